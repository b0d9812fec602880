import type { Redis } from 'ioredis';
import { nowInLua } from '../platform/lua.ts';

/** The export queue's keys, for what BullMQ does not do itself: an ExportQueue, or a worker with its connection. */
export interface QueueAccess {
  redis: Redis;
  /** The key of a part of the queue; the prefix of all of them for ''. */
  toKey(part: string): string;
}

/** Set while a job that is under way shall stop. */
export function cancelKey(queue: QueueAccess, jobKey: string): string {
  return queue.toKey(`cancel:${jobKey}`);
}

/** Who waits for a job: a sorted set of their ids, by the second at which each counts as gone. */
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
 * Notes that a worker leaves a job to workers of another release.
 *
 * @returns for how long workers have done so since the job was asked for, in milliseconds by the clock of Redis.
 * @throws when Redis does not answer.
 */
export async function noteHandOn(queue: QueueAccess, jobKey: string): Promise<number> {
  return Number(await queue.redis.eval(handOnScript, 1, queue.toKey(jobKey)));
}
