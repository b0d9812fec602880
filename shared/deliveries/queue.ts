import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Config } from '../platform/config.ts';
import type { Delivery } from './outbox.ts';

/** The payload of a job that delivers one row now. */
export const deliveryJobSchema = z.object({ rowId: z.string() });
export type DeliveryJob = z.output<typeof deliveryJobSchema>;

/** A queue that reduces the latency of an outbox; its jobs return their outcome as one word. */
export type DeliveryQueue = Queue<DeliveryJob, string>;

/** How long the queue board shows finished jobs. */
const keptSeconds = 24 * 3600;
const keptJobs = 1000;

/** Rows that are due later than this get no job: a sweep finds them. */
const maxDelayMs = 30_000;

export function createDeliveryQueue(
  name: string,
  redis: Redis,
  { redisPrefix }: Pick<Config, 'redisPrefix'>,
): DeliveryQueue {
  const queue: DeliveryQueue = new Queue<DeliveryJob, string>(name, {
    connection: redis,
    prefix: redisPrefix,
    defaultJobOptions: {
      removeOnComplete: { age: keptSeconds, count: keptJobs },
      removeOnFail: { age: keptSeconds, count: keptJobs },
    },
  });
  // Failed commands reject by themselves; an 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  return queue;
}

/**
 * Queues jobs for rows that are due soon. Deduplication keeps at most one waiting job for each row; a job that is added
 * while a worker delivers the row runs next, so that it sends the latest change.
 */
export async function enqueueDeliveries(
  queue: DeliveryQueue,
  rows: readonly Pick<Delivery, '_id' | 'nextTryAt'>[],
): Promise<void> {
  const jobs = rows.flatMap(({ _id: rowId, nextTryAt }) => {
    const delay = Math.max(0, nextTryAt.getTime() - Date.now());
    if (delay > maxDelayMs) return [];
    const opts = { delay, deduplication: { id: rowId, keepLastIfActive: true } };
    return [{ name: 'send', data: { rowId }, opts }];
  });
  if (jobs.length > 0) await queue.addBulk(jobs);
}
