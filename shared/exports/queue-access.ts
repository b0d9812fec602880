import type { Redis } from 'ioredis';
import { nowInLua } from '../platform/redis.ts';

/** Access to the export queue's keys, for operations that BullMQ lacks: an ExportQueue, or a worker's connection. */
export interface QueueAccess {
  redis: Redis;
  /** Returns the key of a part of the queue; for '' the prefix of all keys. */
  toKey(part: string): string;
}

/** Returns the key that exists while a running job has to stop. */
export function cancellationKey(queue: QueueAccess, jobKey: string): string {
  return queue.toKey(`cancel:${jobKey}`);
}

/**
 * Returns the key of the sorted set of requests that wait for a job, by the second in which each counts as
 * gone.
 */
export function waitersKey(queue: QueueAccess, jobKey: string): string {
  return queue.toKey(`waiters:${jobKey}`);
}

const handOnScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return '0' end
${nowInLua}
redis.call('HSETNX', KEYS[1], 'handedOnSince', string.format('%.0f', now))
return string.format('%.0f', now - tonumber(redis.call('HGET', KEYS[1], 'handedOnSince')))
`;

/**
 * Records that a worker leaves a job to workers of another release.
 *
 * @returns how long workers have done so since the job was requested, in milliseconds by the clock of Redis.
 * @throws when Redis does not respond.
 */
export async function recordHandOver(queue: QueueAccess, jobKey: string): Promise<number> {
  return Number(await queue.redis.eval(handOnScript, 1, queue.toKey(jobKey)));
}
