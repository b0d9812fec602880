import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { Config } from '../../shared/platform/config.ts';
import { exportQueueName } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportResult } from '../../shared/exports/jobs.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { startHeartbeat } from '../../shared/operations/workers.ts';
import { createWaitingRedis } from '../../shared/platform/redis.ts';
import { JobLockLost } from './builds.ts';
import type { Builds } from './builds.ts';
import type { ExportDependencies } from './build-archive.ts';
import { startPreemption } from './preemption.ts';
import type { WorkerMetrics } from './metrics.ts';
import { processExport } from './process-export.ts';
import { startPublishingKept } from './report-export.ts';
import type { Watched } from '../maintenance/watchdog.ts';
import { findCancelled } from '../../shared/exports/cancel.ts';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';

/**
 * No limit: process-export.ts limits the starts of a job. BullMQ counts stalls across retries for as long as it keeps a
 * job, regardless of the number of attempts, so any limit would eventually reject a job for good.
 */
const maxStalls = Number.MAX_SAFE_INTEGER;

/** How long a closing worker waits for Redis to accept the results of its last jobs. */
const closeTimeoutMs = 5_000;

/** The part of SHUTDOWN_SECONDS that is reserved for requeueing builds and closing connections. */
const closingSeconds = 5;

/** The time limit for stopped builds to remove their temporary files; a later sweep removes the rest. */
const cleanupMs = 1_000;

export interface ExportWorker {
  /** Resolves when it is connected to Redis. */
  ready(): Promise<unknown>;
  /** Begins to take jobs. */
  start(): void;
  /**
   * Shuts down gracefully: takes no more jobs, and resolves when the current ones have ended, or are back in the queue
   * because they would not end in time.
   */
  close(): Promise<void>;
  /** Resolves when Redis answers on the connection that delivers jobs. */
  ping(): Promise<unknown>;
  /** For the watchdog. */
  watched: Watched;
}

/** Returns a worker for the export queue that has not started yet. */
export function createExportWorker(
  redisUrl: string,
  deps: ExportDependencies & {
    builds: Builds;
    metrics: WorkerMetrics;
    config: Pick<Config, 'redisPrefix' | 'shutdownSeconds' | 'worker'>;
    log: Logger;
  },
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
  const cancellation = startCancellation(queue, builds);
  const preemption = startPreemption(queue, builds, config.worker.concurrency);
  const publishing = startPublishingKept({ db: deps.db, queue, log });
  worker.on('error', (error) => log.warn({ err: error }, 'the queue does not respond'));
  worker.on('stalled', (id) => {
    metrics.takenOver();
    log.warn({ job: id }, 'taking over an export whose worker stopped');
  });
  worker.on('lockRenewalFailed', (ids: string[]) => {
    // Another worker may have these now. The first to finish publishes; stopping here only saves work.
    for (const id of ids) builds.stop(id, new JobLockLost());
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
      await drain(worker, builds, drainMs(config));
      // Not before, so that a canceled build does not delay the shutdown.
      cancellation.stop();
      preemption.stop();
      // Not awaited: without Redis, its command never ends.
      void publishing.stop();
      connection.disconnect();
    },
  };
}

/** Returns the milliseconds that current work may take in a process that is shutting down. */
export function drainMs({ shutdownSeconds }: Pick<Config, 'shutdownSeconds'>): number {
  return 1000 * Math.max(shutdownSeconds - closingSeconds, shutdownSeconds / 2);
}

async function drain(worker: Worker, builds: Builds, timeoutMs: number): Promise<void> {
  const timer = new AbortController();
  // While Redis is down, BullMQ waits for it without limit, although the jobs have ended.
  const closed = Promise.race([worker.close(), allDone(builds)]).then(() => true);
  const timedOut = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  if (await Promise.race([closed, timedOut])) {
    timer.abort();
    return;
  }
  builds.requeueAll();
  await Promise.race([closed, pause(closeTimeoutMs / 2)]);
  await Promise.race([builds.settled(), pause(cleanupMs)]);
}

/** Resolves when no build has run for a while. */
async function allDone(builds: Builds): Promise<void> {
  do {
    await builds.settled();
    await pause(closeTimeoutMs);
  } while (builds.size > 0);
}

function pause(milliseconds: number): Promise<void> {
  return delay(milliseconds, undefined, { ref: false });
}

/** Cancellations are polled, not subscribed to, so that a worker that takes over a job or reconnects misses none. */
const cancellationPollMs = 1_000;

/** Cancels running builds on request, within about a second. */
function startCancellation(queue: QueueAccess, builds: Builds): { stop(): void } {
  let polling = false;
  const poll = async () => {
    if (polling || builds.size === 0) return;
    polling = true;
    try {
      for (const key of await findCancelled(queue, builds.keys())) builds.cancel(key);
    } catch {
      // Redis is down; the next poll comes soon.
    } finally {
      polling = false;
    }
  };
  const timer = setInterval(() => void poll(), cancellationPollMs);
  return { stop: () => clearInterval(timer) };
}
