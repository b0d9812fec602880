import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import type { Job } from 'bullmq';
import { LecternError } from '../../shared/platform/errors.ts';
import { BuildCancelled, endCancel } from '../../shared/exports/cancel.ts';
import { noteHandOn } from '../../shared/exports/queue-access.ts';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';
import { noteEnd, noteStart, placeAgain, uncountStart, wakeWorker } from '../../shared/exports/start.ts';
import { toFailedReason } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Builds } from './builds.ts';
import { BuildGaveWay, BuildGivenBack, BuildLost } from './builds.ts';
import type { ExportDependencies } from './build-archive.ts';
import { JobOfOtherRelease } from './profiles/profile.ts';
import { runExport } from './job.ts';
import type { WorkerMetrics } from './metrics.ts';

/** Progress is for people: more often than this says nothing more. */
const progressMilliseconds = 500;

/** A job that kills its workers must stop some time: it is not started more often than this. */
const maxStarts = 10;

/**
 * How long a job of another release rests before a worker looks at it again. The time is random, so that it is not
 * always the same worker.
 */
const handOnMilliseconds = { least: 1_000, most: 3_000 };

/** An upgrade takes no longer; what is left after that has no worker that could build it. */
const longestHandOnMilliseconds = 3_600_000;

export interface ProcessDependencies {
  build: ExportDependencies;
  queue: QueueAccess;
  builds: Builds;
  metrics: WorkerMetrics;
  log: Logger;
}

/**
 * Runs a job that this worker has started, to its end or until it has to go back to the queue.
 *
 * @param token of the lock that this worker holds on the job.
 * @throws {UnrecoverableError} what will not pass; WaitingError or DelayedError for a job that is in the queue again;
 * any other error for a build that may be tried again.
 */
export async function processExport(
  deps: ProcessDependencies,
  job: Job<ExportJob, ExportResult>,
  token: string,
): Promise<ExportResult> {
  const { queue, builds, metrics } = deps;
  const key = job.id ?? job.data.key;
  const log = deps.log.child({ job: key, lesson: job.data.slug, version: job.data.versionNumber });
  const started = Date.now();
  const seconds = () => (Date.now() - started) / 1000;
  // Where it is not heard, the turns go on from the next start.
  noteStart(queue, key)
    .then((isFirst) => isFirst && metrics.waited(Math.max(0, started - job.timestamp) / 1000))
    .catch(() => undefined);
  try {
    if (job.attemptsStarted > maxStarts) throw poisoned();
    const { organizationId } = job.data;
    const build = builds.run({ key, organizationId }, (signal) =>
      runExport(deps.build, job.data, { signal, onProgress: reportProgress(job) }),
    );
    // A build may take a while to stop; its job is free for others at once.
    const result = await builds.untilGivenBack(build);
    await noteEnd(queue, key).catch(() => undefined);
    const wasThere = result.files === 0;
    if (!wasThere) {
      metrics.built(result.failures === 0 ? 'complete' : 'incomplete', seconds(), result.size);
    }
    const milliseconds = Date.now() - started;
    log.info({ ...result, milliseconds }, wasThere ? 'export was there already' : 'export built');
    return result;
  } catch (error) {
    if (error instanceof BuildGivenBack) {
      metrics.built('given_back', seconds());
      await giveBack(queue, job, token);
      log.info('export given back to the queue');
      throw new WaitingError();
    }
    if (error instanceof BuildGaveWay) {
      metrics.built('gave_way', seconds());
      // Behind the job that it makes room for. Where this is not heard, it keeps the place it had.
      await placeAgain(queue, job.data, 'same').catch(() => undefined);
      await giveBack(queue, job, token);
      log.info('export gave way to one of another organization');
      throw new WaitingError();
    }
    if (error instanceof BuildCancelled) {
      metrics.built('cancelled', seconds());
      // Where this is not heard, the request ends by itself in time.
      await endCancel(queue, key).catch(() => undefined);
      log.info('export cancelled');
      throw new UnrecoverableError(error.message);
    }
    if (error instanceof JobOfOtherRelease && (await handOn(queue, job, token))) {
      metrics.built('given_back', seconds());
      log.info({ detail: error.message }, 'export left to a worker of another release');
      throw new DelayedError();
    }
    if (error instanceof BuildLost) {
      metrics.built('lost', seconds());
      log.warn('export left to another worker: the lock was lost');
      // Its place in the queue is that of whoever has it now, or comes when the lock is seen to be gone.
      throw new WaitingError();
    }
    metrics.built('failed', seconds());
    metrics.failed(error);
    log.error(
      { err: error, attempt: job.attemptsMade + 1, milliseconds: Date.now() - started },
      'export failed',
    );
    await noteEnd(queue, key).catch(() => undefined);
    throw await toJobFailure(queue, job, error);
  }
}

function poisoned(): LecternError {
  return new LecternError(
    'INTERNAL_ERROR',
    `Given up after ${maxStarts} starts: each time the worker ended, or lost its job, before the archive was built`,
  );
}

/** What is wrong with the content stays wrong; anything else may pass, and takes its turn as a new build does. */
async function toJobFailure(queue: QueueAccess, job: Job<ExportJob>, error: unknown): Promise<Error> {
  const poison = error instanceof LecternError && job.attemptsStarted > maxStarts;
  const final =
    poison || error instanceof JobOfOtherRelease || (error instanceof LecternError && error.expose);
  if (final) return new UnrecoverableError(toFailedReason(error));
  const retried = job.attemptsMade + 1 < (job.opts.attempts ?? 1);
  // Without a place of its own it keeps the one it had.
  if (retried) await placeAgain(queue, job.data, 'same').catch(() => undefined);
  return new Error(toFailedReason(error), { cause: error });
}

/** Moves a job of this worker back to waiting, before all others of its priority, as that is now. */
async function giveBack(queue: QueueAccess, job: Job<ExportJob>, token: string): Promise<void> {
  await job.moveToWait(token);
  // It was not the job that failed here: deployments must not add up to a poison job.
  await uncountStart(queue, job.id ?? job.data.key);
  // BullMQ wakes nobody for a job that is moved back.
  await wakeWorker(queue);
}

/**
 * Moves a job of this worker back to the queue, for a worker of another release.
 *
 * @returns false when none has taken it for so long that there is none.
 */
async function handOn(queue: QueueAccess, job: Job<ExportJob>, token: string): Promise<boolean> {
  const key = job.id ?? job.data.key;
  if ((await noteHandOn(queue, key)) > longestHandOnMilliseconds) return false;
  const { least, most } = handOnMilliseconds;
  await job.moveToDelayed(Date.now() + least + Math.random() * (most - least), token);
  await uncountStart(queue, key);
  return true;
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
