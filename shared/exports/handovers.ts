import { nowInLua } from '../platform/lua.ts';
import type { QueueAccess } from './queue-access.ts';

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
