import { randomUUID } from 'node:crypto';
import { Worker } from 'bullmq';
import type { Processor } from 'bullmq';
import type { Config } from '../../shared/platform/config.ts';
import { takeCancelled } from '../../shared/exports/cancel.ts';
import type { ExportJob, ExportResult } from '../../shared/exports/jobs.ts';
import { ExportQueue } from '../../shared/exports/queues.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { createWaitingRedis } from '../../shared/platform/redis.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import { withDeadline } from '../../shared/platform/time-limits.ts';
import type { BuildDependencies } from './build-archive.ts';
import { openSlotForOthers } from './slot-for-others.ts';
import type { WorkerMetrics } from './metrics.ts';
import { processJob, stopReasons } from './process-job.ts';
import { startUpkeep } from './upkeep.ts';
import type { Watched } from '../maintenance/watchdog.ts';

/** No limit: process-job.ts fails a job that stalls too often, and reports it. */
const maxStalls = Number.MAX_SAFE_INTEGER;

/** How long a closing worker waits for Redis to accept the results of its last jobs. */
const closeTimeoutMs = 5_000;

/** The part of SHUTDOWN_SECONDS that is reserved for returning builds and closing connections. */
const closingSeconds = 5;

/** Cancellations are polled, not subscribed to, so that a worker that takes over a job or reconnects misses none. */
const cancellationPollMs = 1_000;

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
  /** Returns the number of running builds. */
  builds(): number;
  /** Resolves when Redis answers on the connection that delivers jobs. */
  ping(): Promise<unknown>;
  /** For the watchdog. */
  watched: Watched;
}

/** Returns a worker for the export queue that has not started yet. */
export function createExportWorker(
  redisUrl: string,
  deps: BuildDependencies & {
    metrics: WorkerMetrics;
    config: Pick<Config, 'redisPrefix' | 'shutdownSeconds' | 'worker'>;
    log: Logger;
  },
): ExportWorker {
  const { metrics, config, log } = deps;
  const { concurrency, lockSeconds } = config.worker;
  const connection = createWaitingRedis(redisUrl);
  const queue = new ExportQueue(connection, config);
  const running = new Map<string, string>();
  let starts = 0;
  // BullMQ passes a signal only to functions with three parameters without defaults.
  const process: Processor<ExportJob, ExportResult> = (job, token, signal) => {
    starts += 1;
    const options = { token: token ?? '', signal: signal ?? new AbortController().signal };
    return processJob({ build: deps, queue, running, metrics, log }, job, options);
  };
  const options = {
    connection,
    autorun: false,
    prefix: config.redisPrefix,
    // Both workers of a process have its name, by which they are counted.
    name: randomUUID(),
    concurrency,
    lockDuration: lockSeconds * 1000,
    stalledInterval: lockSeconds * 1000,
    maxStalledCount: maxStalls,
  };
  const worker = new Worker<ExportJob, ExportResult>(queue.name, process, options);
  const isFull = () => running.size >= concurrency;
  const others = openSlotForOthers(queue, process, { options, running, isFull });
  const workers = [worker, others.worker];
  for (const each of workers) {
    each.on('error', (error) => log.warn({ err: error }, 'the queue does not respond'));
    each.on('lockRenewalFailed', (ids: string[]) => {
      // Another worker may have these now. The first to finish publishes; stopping here only saves work.
      for (const id of ids) each.cancelJob(id, stopReasons.lockLost);
    });
  }
  worker.on('stalled', (id) => {
    metrics.takenOver();
    log.warn({ job: id }, 'taking over an export whose worker stopped');
  });
  const stopCancelled = async () => {
    for (const id of await takeCancelled(queue, [...running.keys()]))
      for (const each of workers) each.cancelJob(id, stopReasons.cancelled);
  };
  const repetitions = [
    repeat(stopCancelled, cancellationPollMs, () => undefined),
    startUpkeep(queue, { config, log }),
  ];
  return {
    ready: () => Promise.all(workers.map((each) => each.waitUntilReady())),
    start: () => {
      worker.run().catch((error: Error) => worker.emit('error', error));
    },
    builds: () => running.size,
    ping: () => connection.ping(),
    watched: { redisUrl, config, freeSlots: () => concurrency - running.size, starts: () => starts },
    close: async () => {
      others.stop();
      const closed = Promise.all(workers.map((each) => each.close()));
      // While Redis is down, BullMQ waits for it without limit.
      await settledWithin(closed, running.size > 0 ? drainMs(config) : closeTimeoutMs);
      for (const each of workers) each.cancelAllJobs(stopReasons.shutdown);
      await settledWithin(closed, closeTimeoutMs / 2);
      // Not before, so that a canceled build does not delay the shutdown. Not awaited: without Redis, their commands
      // never end.
      for (const repetition of repetitions) void repetition.stop();
      connection.disconnect();
    },
  };
}

/** Returns the milliseconds that current work may take in a process that is shutting down. */
export function drainMs({ shutdownSeconds }: Pick<Config, 'shutdownSeconds'>): number {
  return 1000 * Math.max(shutdownSeconds - closingSeconds, shutdownSeconds / 2);
}

/** Waits until a promise has settled, for so long at most. */
async function settledWithin(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  await withDeadline(work, { timeoutMs, late: () => undefined }).catch(() => undefined);
}
