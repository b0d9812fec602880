import type { ExportJob } from './jobs.ts';
import { nowInLua } from '../platform/lua.ts';
import { placeFunction, prebuilding, reading, tagsOfClass } from './fair-scheduling.ts';
import type { QueueAccess } from './queue-access.ts';

/** The virtual time moves to the tag of the job that was started; what comes from now on gets a place of its own. */
const startScript = `
local prefix, id = ARGV[1], ARGV[2]
local fair = prefix .. 'fair'
local function started(class, base, priority)
  redis.call('DEL', prefix .. 'fair:' .. class .. ':' .. id)
  local tag = priority - base
  if tag < 0 or tag >= ${tagsOfClass} then return end
  if tag > tonumber(redis.call('HGET', fair, class) or 0) then redis.call('HSET', fair, class, tag) end
end
local key = prefix .. id
if redis.call('EXISTS', key) == 0 then return 0 end
local priority = tonumber(redis.call('HGET', key, 'priority') or 0)
started('read', ${reading.base}, priority)
started('prebuild', ${prebuilding.base}, priority)
return redis.call('HSETNX', key, 'begun', 1)
`;

const placeAgainScript = `
local prefix, id, organization = ARGV[1], ARGV[2], ARGV[3]
${placeFunction}
local key = prefix .. id
if redis.call('EXISTS', key) == 0 then return end
local class, base = 'read', ${reading.base}
if ARGV[4] == 'same' and tonumber(redis.call('HGET', key, 'priority') or 0) >= ${prebuilding.base} then
  class, base = 'prebuild', ${prebuilding.base}
end
redis.call('HSET', key, 'priority', place(class, base, organization, id))
if ARGV[4] == 'readers' then
  ${nowInLua}
  redis.call('HSET', key, 'timestamp', now)
  redis.call('HDEL', key, 'begun', 'handedOnSince')
end
`;

/** Not `finishedOn`, which has the time of the worker's own clock. */
const endScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return end
${nowInLua}
redis.call('HSET', KEYS[1], 'endedAt', string.format('%.0f', now))
`;

const endedScript = `
${nowInLua}
local endedAt = redis.call('HGET', KEYS[1], 'endedAt')
return {string.format('%.0f', now), endedAt or ''}
`;

const uncountScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HINCRBY', KEYS[1], 'ats', -1) end
`;

/** What workers that have nothing to do wait for; in a queue that is paused it would keep them busy. */
const wakeScript = `
if redis.call('HEXISTS', KEYS[1], 'paused') == 0 then redis.call('ZADD', KEYS[2], 0, '0') end
`;

/**
 * A worker has started a job: the turns of organizations go on from there.
 *
 * @returns whether it is the first start since its archive was asked for.
 * @throws when Redis does not answer.
 */
export async function noteStart(queue: QueueAccess, jobKey: string): Promise<boolean> {
  return (await queue.redis.eval(startScript, 0, queue.toKey(''), jobKey)) === 1;
}

/**
 * Gives a job that is under way or has ended the place of one more build of its organization, for when it is moved
 * back to waiting: a build that is tried again takes its turn as any other.
 *
 * @param jobClass that of readers, for a job that is asked for anew just now; or the one that the job has.
 * @throws when Redis does not answer.
 */
export async function placeAgain(
  queue: QueueAccess,
  { key, organizationId }: ExportJob,
  jobClass: 'readers' | 'same',
): Promise<void> {
  await queue.redis.eval(placeAgainScript, 0, queue.toKey(''), key, organizationId, jobClass);
}

/**
 * Takes back one start of a job, which counts towards the limit of starts. A job that was cancelled meanwhile stays
 * away: a hash without a job would keep BullMQ from ever adding it again.
 *
 * @throws when Redis does not answer.
 */
export async function uncountStart(queue: QueueAccess, jobKey: string): Promise<void> {
  await queue.redis.eval(uncountScript, 1, queue.toKey(jobKey));
}

/**
 * Notes that the build of a job ends now, by the clock of Redis.
 *
 * @throws when Redis does not answer.
 */
export async function noteEnd(queue: QueueAccess, jobKey: string): Promise<void> {
  await queue.redis.eval(endScript, 1, queue.toKey(jobKey));
}

/**
 * Returns the time now and when the last build of a job ended, in milliseconds by the clock of Redis; `endedAt` is null
 * where no worker has noted it.
 *
 * @throws when Redis does not answer.
 */
export async function readEnd(
  queue: QueueAccess,
  jobKey: string,
): Promise<{ now: number; endedAt: number | null }> {
  const [now, endedAt] = (await queue.redis.eval(endedScript, 1, queue.toKey(jobKey))) as string[];
  return { now: Number(now), endedAt: endedAt === '' ? null : Number(endedAt) };
}

/**
 * Has a worker that waits for jobs look for one.
 *
 * @throws when Redis does not answer.
 */
export async function wakeWorker(queue: QueueAccess): Promise<void> {
  await queue.redis.eval(wakeScript, 2, queue.toKey('meta'), queue.toKey('marker'));
}
