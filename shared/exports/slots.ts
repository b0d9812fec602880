import { prebuildClass, readerClass } from './fair-scheduling.ts';
import type { QueueAccess } from './queue-access.ts';

/**
 * How many waiting jobs are read from the front of the queue. Fair scheduling puts a new organization among the
 * first.
 */
const scannedJobs = 100;

/** How long one worker has the exclusive right to free a slot for a job. */
const claimSeconds = 15;

/**
 * Returns the running builds by organization, then the first waiting reader's job of an organization without
 * any.
 */
const shareScript = `
local prefix = ARGV[1]
local function organizationOf(id)
  local data = redis.call('HGET', prefix .. id, 'data')
  return data and cjson.decode(data).organizationId
end
local held, names, counts = {}, {}, {}
for _, id in ipairs(redis.call('LRANGE', prefix .. 'active', 0, -1)) do
  local organization = organizationOf(id)
  if organization then
    if not held[organization] then names[#names + 1] = organization end
    held[organization] = (held[organization] or 0) + 1
  end
end
for index, name in ipairs(names) do counts[index] = held[name] end
for _, id in ipairs(redis.call('ZRANGE', prefix .. 'prioritized', 0, ${scannedJobs - 1})) do
  local priority = tonumber(redis.call('HGET', prefix .. id, 'priority') or 0)
  if priority >= ${prebuildClass.base} then break end
  local organization = organizationOf(id)
  if organization and not held[organization] then return {names, counts, id} end
end
return {names, counts}
`;

const claimScript = `
local prefix, id = ARGV[1], ARGV[2]
if not redis.call('ZSCORE', prefix .. 'prioritized', id) then return 0 end
if not redis.call('SET', prefix .. 'fair:room:' .. id, 1, 'NX', 'EX', ${claimSeconds}) then return 0 end
redis.call('HSET', prefix .. id, 'priority', ${readerClass.base})
redis.call('ZADD', prefix .. 'prioritized', ${readerClass.base} * 4294967296, id)
return 1
`;

export interface SlotUsage {
  /** Running builds on all workers, by organization. */
  held: Map<string, number>;
  /** The longest-waiting job of an organization without a running build; null where none waits. */
  starved: string | null;
}

/**
 * Returns how the organizations share the slots of all workers.
 *
 * @throws when Redis does not respond.
 */
export async function readSlotUsage(queue: QueueAccess): Promise<SlotUsage> {
  const shares = await queue.redis.eval(shareScript, 0, queue.toKey(''));
  const [names, counts, starved = null] = shares as [string[], number[], string?];
  return { held: new Map(names.map((name, index) => [name, counts[index] ?? 0])), starved };
}

/**
 * Moves a waiting job to the front, for the worker that is about to free a slot for it.
 *
 * @returns false if the job no longer waits, or another worker frees a slot for it.
 * @throws when Redis does not respond.
 */
export async function claimSlot(queue: QueueAccess, jobKey: string): Promise<boolean> {
  return (await queue.redis.eval(claimScript, 0, queue.toKey(''), jobKey)) === 1;
}
