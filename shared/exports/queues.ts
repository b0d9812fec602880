import { Queue, QueueEvents } from 'bullmq';
import type { QueueOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Config } from '../platform/config.ts';
import { exportQueueName } from './jobs.ts';
import type { ExportJob, ExportResult } from './jobs.ts';
import { createWaitingRedis } from '../platform/redis.ts';

/** The queue, and the connection it lives on, for what BullMQ does not do itself (shared/exports/). */
export class ExportQueue extends Queue<ExportJob, ExportResult> {
  readonly redis: Redis;

  constructor(redis: Redis, options: Omit<QueueOptions, 'connection'>) {
    super(exportQueueName, { ...options, connection: redis });
    this.redis = redis;
  }
}

/**
 * How long finished jobs are shown to an operator. A kept job would swallow later adds under its id, so whoever asks
 * again for one that is finished retries it (api/exports/archive-requests.ts).
 */
const keptSeconds = 24 * 3600;
const keptJobs = 1000;

/** The producing side of the export queue, on a connection that fails fast. */
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
  // Commands that fail say so themselves; an 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  return queue;
}

/** What happens to the jobs of the export queue, on a connection of its own that waits for Redis. */
export function createExportEvents(redisUrl: string, config: Pick<Config, 'redisPrefix'>): QueueEvents {
  const events = new QueueEvents(exportQueueName, {
    connection: createWaitingRedis(redisUrl),
    prefix: config.redisPrefix,
  });
  events.on('error', () => undefined);
  return events;
}
