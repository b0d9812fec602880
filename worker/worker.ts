import { setTimeout as delay } from 'node:timers/promises';
import { UnrecoverableError, Worker } from 'bullmq';
import type { Job } from 'bullmq';
import type { Config } from '../shared/config.ts';
import { LecternError } from '../shared/errors.ts';
import { exportQueueName, toFailedReason } from '../shared/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../shared/jobs.ts';
import type { Logger } from '../shared/log.ts';
import { createWaitingRedis } from '../shared/redis.ts';
import type { ExportDependencies } from './export/build-archive.ts';
import { runExport } from './jobs/export.ts';

/** Progress is for people: more often than this says nothing more. */
const progressMilliseconds = 500;

/**
 * A job whose worker dies is taken up by another, and what bounds that is the number of starts. BullMQ would give a
 * job up after one stall, whatever the number of attempts says; and it counts stalls for as long as a job is kept,
 * also over retries, so that any limit of its own would refuse a job for good some day.
 */
const maxStalls = Number.MAX_SAFE_INTEGER;

/** A job that kills its workers must stop some time: it is not started more often than this. */
const maxStarts = 10;

/** How long Redis has to hear that the last job is done before a worker that closes leaves without saying so. */
const farewellMilliseconds = 5_000;

export interface ExportWorker {
  /** Resolves when it takes jobs. */
  ready(): Promise<unknown>;
  /** Takes no more jobs, and resolves when those it has are done. */
  close(): Promise<void>;
}

/** Takes jobs from the export queue until it is closed. */
export function createExportWorker(
  redisUrl: string,
  deps: ExportDependencies & { config: Config; log: Logger },
): ExportWorker {
  const { config, log } = deps;
  const connection = createWaitingRedis(redisUrl);
  const building = new Set<Promise<ExportResult>>();
  const worker = new Worker<ExportJob, ExportResult>(
    exportQueueName,
    async (job, _token, signal) => {
      const build = processExport(deps, job, signal ?? new AbortController().signal);
      building.add(build);
      try {
        return await build;
      } finally {
        building.delete(build);
      }
    },
    {
      connection,
      prefix: config.redisPrefix,
      concurrency: config.worker.concurrency,
      lockDuration: config.worker.lockSeconds * 1000,
      stalledInterval: config.worker.lockSeconds * 1000,
      maxStalledCount: maxStalls,
      maxStartedAttempts: maxStarts,
    },
  );
  worker.on('error', (error) => log.warn({ err: error }, 'the queue does not answer'));
  worker.on('stalled', (id) => log.warn({ job: id }, 'taking over an export whose worker stopped'));
  worker.on('lockRenewalFailed', (ids: string[]) => {
    // Another worker may have these now. Whichever ends first publishes; stopping here only saves the work.
    for (const id of ids) worker.cancelJob(id, 'the lock was lost');
  });
  return {
    ready: () => worker.waitUntilReady(),
    close: async () => {
      // BullMQ waits for a Redis that is away as long as it takes; the jobs are done before that.
      await Promise.race([worker.close(), allDone(building)]);
      connection.disconnect();
    },
  };
}

/** Resolves when nothing has been under way for a while. */
async function allDone(building: ReadonlySet<Promise<unknown>>): Promise<void> {
  do {
    await Promise.allSettled(building);
    await delay(farewellMilliseconds, undefined, { ref: false });
  } while (building.size > 0);
}

async function processExport(
  deps: ExportDependencies & { log: Logger },
  job: Job<ExportJob, ExportResult>,
  signal: AbortSignal,
): Promise<ExportResult> {
  const log = deps.log.child({ job: job.id, lesson: job.data.slug, version: job.data.versionNumber });
  const started = Date.now();
  try {
    const result = await runExport(deps, job.data, { signal, onProgress: reportProgress(job) });
    log.info({ ...result, milliseconds: Date.now() - started }, 'export built');
    return result;
  } catch (error) {
    log.error(
      { err: error, attempt: job.attemptsMade + 1, milliseconds: Date.now() - started },
      'export failed',
    );
    // What is wrong with the content stays wrong; anything else may pass.
    const final = error instanceof LecternError && error.expose;
    throw final
      ? new UnrecoverableError(toFailedReason(error))
      : new Error(toFailedReason(error), { cause: error });
  }
}

function reportProgress(job: Job): (progress: ExportProgress) => void {
  let last = 0;
  return (progress) => {
    const now = Date.now();
    if (now - last < progressMilliseconds && progress.done < progress.total) return;
    last = now;
    // Progress that cannot be shown is no reason to fail a build.
    job.updateProgress({ ...progress }).catch(() => undefined);
  };
}
