import { Queue, QueueEvents } from 'bullmq';
import type { QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Config } from '../platform/config.ts';
import { exportQueueName } from './jobs.ts';
import type { ExportJob, ExportResult } from './jobs.ts';
import { createWaitingRedis } from '../platform/redis.ts';

/** The export queue with its connection, for operations that BullMQ lacks. */
export class ExportQueue extends Queue<ExportJob, ExportResult> {
  readonly redis: Redis;

  constructor(redis: Redis, options: Omit<QueueOptions, 'connection'>) {
    super(exportQueueName, { ...options, connection: redis });
    this.redis = redis;
  }
}

/**
 * How long operators see finished jobs. A kept job would swallow later adds under its id, so a new request for
 * a finished one reruns it (api/exports/archive-requests.ts).
 */
const keptSeconds = 24 * 3600;
const keptJobs = 1000;

/** Returns the producing side of the export queue, on a connection that fails fast. */
export function createExportQueue(redis: Redis, config: Pick<Config, 'redisPrefix'>): ExportQueue {
  const queue = new ExportQueue(redis, {
    prefix: config.redisPrefix,
    defaultJobOptions: {
      attempts: 3,
      backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
      removeOnComplete: { age: keptSeconds, count: keptJobs },
      removeOnFail: { age: keptSeconds, count: keptJobs },
    },
  });
  // Failing commands reject by themselves; an 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  return queue;
}

/** Returns the events of the export queue, on a separate connection that waits for Redis. */
export function createExportEvents(redisUrl: string, config: Pick<Config, 'redisPrefix'>): QueueEvents {
  const events = new QueueEvents(exportQueueName, {
    connection: createWaitingRedis(redisUrl),
    prefix: config.redisPrefix,
  });
  events.on('error', () => undefined);
  return events;
}
