import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Config } from '../../platform/config.ts';
import type { LtiScore } from '../../models/lti-score.ts';

/** The queue of scores to send. It makes sending prompt, and holds nothing: rows that wait are found without it. */
export const scoreQueueName = 'lti-scores';

export const scoreJobSchema = z.object({ scoreId: z.string() });
export type ScoreJob = z.output<typeof scoreJobSchema>;

/** A job says in a word what became of it. */
export type ScoreQueue = Queue<ScoreJob, string>;

/** How long finished jobs are shown to an operator. */
const keptSeconds = 24 * 3600;
const keptJobs = 1000;

/** What may be sent only later than this is found by a worker's sweep. */
const soonMilliseconds = 30_000;

export function createScoreQueue(redis: Redis, config: Pick<Config, 'redisPrefix'>): ScoreQueue {
  const queue: ScoreQueue = new Queue<ScoreJob, string>(scoreQueueName, {
    connection: redis,
    prefix: config.redisPrefix,
    defaultJobOptions: {
      removeOnComplete: { age: keptSeconds, count: keptJobs },
      removeOnFail: { age: keptSeconds, count: keptJobs },
    },
  });
  // Commands that fail say so themselves; an 'error' event without a listener would end the process.
  queue.on('error', () => undefined);
  return queue;
}

/**
 * Has workers send rows as soon as they may be sent, where that is soon. A row has one job that waits, at most:
 * another one while a worker is at it becomes the next, so that what changed meanwhile is not left.
 */
export async function promptScores(
  queue: ScoreQueue,
  rows: readonly Pick<LtiScore, '_id' | 'nextTryAt'>[],
): Promise<void> {
  const jobs = rows.flatMap(({ _id: scoreId, nextTryAt }) => {
    const delay = Math.max(0, nextTryAt.getTime() - Date.now());
    if (delay > soonMilliseconds) return [];
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
