import { prebuilding, reading } from './fair-scheduling.ts';
import type { QueueAccess } from './queue-access.ts';

/** Jobs that a look reads from the front of the queue: fair queueing places a newcomer among the first. */
const lookedAt = 100;

/** How long one worker alone makes room for a job; after that another may try. */
const claimSeconds = 15;

/** Builds under way by organization, then the first readers' job of an organization that has none. */
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
for _, id in ipairs(redis.call('ZRANGE', prefix .. 'prioritized', 0, ${lookedAt - 1})) do
  local priority = tonumber(redis.call('HGET', prefix .. id, 'priority') or 0)
  if priority >= ${prebuilding.base} then break end
  local organization = organizationOf(id)
  if organization and not held[organization] then return {names, counts, id} end
end
return {names, counts}
`;

const claimScript = `
local prefix, id = ARGV[1], ARGV[2]
if not redis.call('ZSCORE', prefix .. 'prioritized', id) then return 0 end
if not redis.call('SET', prefix .. 'fair:room:' .. id, 1, 'NX', 'EX', ${claimSeconds}) then return 0 end
redis.call('HSET', prefix .. id, 'priority', ${reading.base})
redis.call('ZADD', prefix .. 'prioritized', ${reading.base} * 4294967296, id)
return 1
`;

export interface SlotShares {
  /** Builds under way in all workers, by organization. */
  held: Map<string, number>;
  /** The job that waits longest of an organization without a build under way; null where none waits. */
  starved: string | null;
}

/**
 * Returns how the organizations share the slots of all workers.
 *
 * @throws when Redis does not answer.
 */
export async function findSlotShares(queue: QueueAccess): Promise<SlotShares> {
  const shares = await queue.redis.eval(shareScript, 0, queue.toKey(''));
  const [names, counts, starved = null] = shares as [string[], number[], string?];
  return { held: new Map(names.map((name, index) => [name, counts[index] ?? 0])), starved };
}

/**
 * Moves a waiting job to the front, for the worker that is about to free a slot for it.
 *
 * @returns false where the job waits no longer, or another worker makes room for it.
 * @throws when Redis does not answer.
 */
export async function claimRoom(queue: QueueAccess, jobKey: string): Promise<boolean> {
  return (await queue.redis.eval(claimScript, 0, queue.toKey(''), jobKey)) === 1;
}
