import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { Config } from '../../shared/platform/config.ts';
import { exportQueueName } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportResult } from '../../shared/exports/jobs.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { startHeartbeat } from '../../shared/operations/workers.ts';
import { createWaitingRedis } from '../../shared/platform/redis.ts';
import { BuildLost } from './builds.ts';
import type { Builds } from './builds.ts';
import type { ExportDependencies } from './build-archive.ts';
import { startGivingWay } from './yielding.ts';
import type { WorkerMetrics } from './metrics.ts';
import { processExport } from './process-export.ts';
import type { Watched } from '../maintenance/watchdog.ts';
import { findCancelled } from '../../shared/exports/cancel.ts';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';

/**
 * A job whose worker dies is taken up by another, and what bounds that is the number of starts. BullMQ would give a
 * job up after one stall, whatever the number of attempts says; and it counts stalls for as long as a job is kept,
 * also over retries, so that any limit of its own would refuse a job for good some day.
 */
const maxStalls = Number.MAX_SAFE_INTEGER;

/** How long Redis has to hear that the last job is done before a worker that closes leaves without saying so. */
const farewellMilliseconds = 5_000;

/** Of the time that a process has to end in, this much is kept for giving builds back and closing connections. */
const closingSeconds = 5;

/** How long stopped builds have to remove what they wrote; what is left is swept later. */
const tidyMilliseconds = 1_000;

export interface ExportWorker {
  /** Resolves when its connections to Redis are there. */
  ready(): Promise<unknown>;
  /** Takes jobs from now on. */
  start(): void;
  /**
   * Takes no more jobs, and resolves when those it has are done, or are in the queue again because they would not
   * have been done in time.
   */
  close(): Promise<void>;
  /** Resolves when Redis answers on the connection on which jobs come. */
  ping(): Promise<unknown>;
  /** What the watchdog looks at. */
  watched: Watched;
}

/** Takes jobs from the export queue, from its start until it is closed. */
export function createExportWorker(
  redisUrl: string,
  deps: ExportDependencies & { builds: Builds; metrics: WorkerMetrics; config: Config; log: Logger },
): ExportWorker {
  const { builds, metrics, config, log } = deps;
  const connection = createWaitingRedis(redisUrl);
  let starts = 0;
  let stopHeartbeat: () => void = () => undefined;
  const worker: Worker<ExportJob, ExportResult> = new Worker<ExportJob, ExportResult>(
    exportQueueName,
    (job, token = '') => {
      starts += 1;
      return processExport({ build: deps, queue, builds, metrics, log }, job, token);
    },
    {
      connection,
      autorun: false,
      prefix: config.redisPrefix,
      concurrency: config.worker.concurrency,
      lockDuration: config.worker.lockSeconds * 1000,
      stalledInterval: config.worker.lockSeconds * 1000,
      maxStalledCount: maxStalls,
    },
  );
  const queue = { redis: connection, toKey: (part: string) => worker.toKey(part) };
  const cancelling = startCancelling(queue, builds);
  const givingWay = startGivingWay(queue, builds, config.worker.concurrency);
  worker.on('error', (error) => log.warn({ err: error }, 'the queue does not answer'));
  worker.on('stalled', (id) => {
    metrics.takenOver();
    log.warn({ job: id }, 'taking over an export whose worker stopped');
  });
  worker.on('lockRenewalFailed', (ids: string[]) => {
    // Another worker may have these now. Whichever ends first publishes; stopping here only saves the work.
    for (const id of ids) builds.stop(id, new BuildLost());
  });
  return {
    ready: () => worker.waitUntilReady(),
    start: () => {
      stopHeartbeat = startHeartbeat(queue);
      worker.run().catch((error: Error) => worker.emit('error', error));
    },
    ping: () => connection.ping(),
    watched: {
      redisUrl,
      queue,
      freeSlots: () => config.worker.concurrency - builds.size,
      starts: () => starts,
    },
    close: async () => {
      stopHeartbeat();
      await drain(worker, builds, drainMilliseconds(config));
      // Until then: a build that is not wanted any more holds nothing up.
      cancelling.stop();
      givingWay.stop();
      connection.disconnect();
    },
  };
}

/** How long what is under way may go on in a process that is to end. */
export function drainMilliseconds({ shutdownSeconds }: Pick<Config, 'shutdownSeconds'>): number {
  return 1000 * Math.max(shutdownSeconds - closingSeconds, shutdownSeconds / 2);
}

async function drain(worker: Worker, builds: Builds, milliseconds: number): Promise<void> {
  const late = new AbortController();
  // BullMQ waits for a Redis that is away as long as it takes; the jobs are done before that.
  const closed = Promise.race([worker.close(), allDone(builds)]).then(() => true);
  const tooLate = delay(milliseconds, false, { signal: late.signal }).catch(() => false);
  if (await Promise.race([closed, tooLate])) {
    late.abort();
    return;
  }
  builds.giveBack();
  await Promise.race([closed, pause(farewellMilliseconds / 2)]);
  await Promise.race([builds.settled(), pause(tidyMilliseconds)]);
}

/** Resolves when nothing has been under way for a while. */
async function allDone(builds: Builds): Promise<void> {
  do {
    await builds.settled();
    await pause(farewellMilliseconds);
  } while (builds.size > 0);
}

function pause(milliseconds: number): Promise<void> {
  return delay(milliseconds, undefined, { ref: false });
}

/** Looked for instead of listened to: a worker that takes a job over, or reconnects, misses no request. */
const lookMilliseconds = 1_000;

/** Cancels builds under way that somebody wants cancelled, within a second or so. */
function startCancelling(queue: QueueAccess, builds: Builds): { stop(): void } {
  let looking = false;
  const look = async () => {
    if (looking || builds.size === 0) return;
    looking = true;
    try {
      for (const key of await findCancelled(queue, builds.keys())) builds.cancel(key);
    } catch {
      // Redis is away; the next look comes soon.
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), lookMilliseconds);
  return { stop: () => clearInterval(timer) };
}
