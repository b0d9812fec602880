import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Config } from '../../platform/config.ts';
import type { LtiScore } from '../../models/lti-score.ts';

/** The queue of scores to send. It only reduces latency: a worker's sweep finds waiting rows without it. */
export const scoreQueueName = 'lti-scores';

export const scoreJobSchema = z.object({ scoreId: z.string() });
export type ScoreJob = z.output<typeof scoreJobSchema>;

/** Jobs return their outcome in one word. */
export type ScoreQueue = Queue<ScoreJob, string>;

/** The queue board shows finished jobs for this long. */
const keptSeconds = 24 * 3600;
const keptJobs = 1000;

/** A worker's sweep finds rows that are due later than this. */
const maxDelayMs = 30_000;

export function createScoreQueue(redis: Redis, config: Pick<Config, 'redisPrefix'>): ScoreQueue {
  const queue: ScoreQueue = new Queue<ScoreJob, string>(scoreQueueName, {
    connection: redis,
    prefix: config.redisPrefix,
    defaultJobOptions: {
      removeOnComplete: { age: keptSeconds, count: keptJobs },
      removeOnFail: { age: keptSeconds, count: keptJobs },
    },
  });
  // Failed commands reject anyway, and an 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  return queue;
}

/**
 * Adds a job for each row that is due soon. A row has at most one waiting job. A job that is added while a worker
 * sends the row runs next, so that a change made meanwhile is sent too.
 */
export async function enqueueScores(
  queue: ScoreQueue,
  rows: readonly Pick<LtiScore, '_id' | 'nextTryAt'>[],
): Promise<void> {
  const jobs = rows.flatMap(({ _id: scoreId, nextTryAt }) => {
    const delay = Math.max(0, nextTryAt.getTime() - Date.now());
    if (delay > maxDelayMs) return [];
    return [
      {
        name: 'send',
        data: { scoreId },
        opts: { delay, deduplication: { id: scoreId, keepLastIfActive: true } },
      },
    ];
  });
  if (jobs.length > 0) await queue.addBulk(jobs);
}
