import type { ExportJob } from './jobs.ts';
import { nowInLua } from '../platform/redis.ts';
import { priorityFunction, prebuildClass, readerClass, tagsPerClass } from './fair-scheduling.ts';
import type { QueueAccess } from './queue-access.ts';

/** Advances the virtual time to the tag of the started job and ends its reservation. */
const startScript = `
local prefix, id = ARGV[1], ARGV[2]
local fair = prefix .. 'fair'
local function started(class, base, priority)
  redis.call('DEL', prefix .. 'fair:' .. class .. ':' .. id)
  local tag = priority - base
  if tag < 0 or tag >= ${tagsPerClass} then return end
  if tag > tonumber(redis.call('HGET', fair, class) or 0) then redis.call('HSET', fair, class, tag) end
end
local key = prefix .. id
if redis.call('EXISTS', key) == 0 then return 0 end
local priority = tonumber(redis.call('HGET', key, 'priority') or 0)
started('read', ${readerClass.base}, priority)
started('prebuild', ${prebuildClass.base}, priority)
return redis.call('HSETNX', key, 'begun', 1)
`;

const reassignPriorityScript = `
local prefix, id, organization = ARGV[1], ARGV[2], ARGV[3]
${priorityFunction}
local key = prefix .. id
if redis.call('EXISTS', key) == 0 then return end
local class, base = 'read', ${readerClass.base}
if ARGV[4] == 'same' and tonumber(redis.call('HGET', key, 'priority') or 0) >= ${prebuildClass.base} then
  class, base = 'prebuild', ${prebuildClass.base}
end
redis.call('HSET', key, 'priority', assign_priority(class, base, organization, id))
if ARGV[4] == 'readers' then
  ${nowInLua}
  redis.call('HSET', key, 'timestamp', now)
  redis.call('HDEL', key, 'begun', 'handedOnSince')
end
`;

/** Stored beside `finishedOn`, which is a time of the worker's clock. */
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

/** Adds the marker that idle workers wait for, but not to a paused queue, where it would keep them busy. */
const wakeScript = `
if redis.call('HEXISTS', KEYS[1], 'paused') == 0 then redis.call('ZADD', KEYS[2], 0, '0') end
`;

/**
 * Records that a worker has started a job, and advances fair scheduling to it.
 *
 * @returns whether this is the first start since the archive was requested.
 * @throws when Redis does not respond.
 */
export async function recordStart(queue: QueueAccess, jobKey: string): Promise<boolean> {
  return (await queue.redis.eval(startScript, 0, queue.toKey(''), jobKey)) === 1;
}

/**
 * Gives an active or ended job the priority of a further build of its organization, before it moves back to
 * waiting.
 *
 * @param jobClass `readers` for a job that was just requested again, `same` to keep the job's class.
 * @throws when Redis does not respond.
 */
export async function reassignPriority(
  queue: QueueAccess,
  { key, organizationId }: ExportJob,
  jobClass: 'readers' | 'same',
): Promise<void> {
  await queue.redis.eval(reassignPriorityScript, 0, queue.toKey(''), key, organizationId, jobClass);
}

/**
 * Subtracts one start of a job, so that it does not count toward the limit of starts. Does nothing if the job was
 * canceled in the meantime: a hash without a job would keep BullMQ from ever adding it again.
 *
 * @throws when Redis does not respond.
 */
export async function uncountStart(queue: QueueAccess, jobKey: string): Promise<void> {
  await queue.redis.eval(uncountScript, 1, queue.toKey(jobKey));
}

/**
 * Records the end of a job's build, by the clock of Redis.
 *
 * @throws when Redis does not respond.
 */
export async function recordEnd(queue: QueueAccess, jobKey: string): Promise<void> {
  await queue.redis.eval(endScript, 1, queue.toKey(jobKey));
}

/**
 * Returns the current time and the end of a job's last build, in milliseconds by the clock of Redis. `endedAt`
 * is null where no worker has recorded it.
 *
 * @throws when Redis does not respond.
 */
export async function readLastEnd(
  queue: QueueAccess,
  jobKey: string,
): Promise<{ now: number; endedAt: number | null }> {
  const [now, endedAt] = (await queue.redis.eval(endedScript, 1, queue.toKey(jobKey))) as string[];
  return { now: Number(now), endedAt: endedAt === '' ? null : Number(endedAt) };
}

/**
 * Wakes a worker that waits for jobs.
 *
 * @throws when Redis does not respond.
 */
export async function wakeWorker(queue: QueueAccess): Promise<void> {
  await queue.redis.eval(wakeScript, 2, queue.toKey('meta'), queue.toKey('marker'));
}
