/**
 * Who is built next. Start-time fair queueing (Goyal, Vin, Cheng: SIGCOMM 1996) over the priorities of BullMQ, the
 * lower ones of which go first: each job gets a tag, the larger of the virtual time and of the tag after the last one
 * of its organization. The virtual time is the tag of the job that was started last. So an organization that has
 * nothing waiting stands before all but the next build of each other one, and one that has much waits behind itself.
 *
 * Readers and pre-building are two classes, each with a virtual time and tags of its own: a job of the second starts
 * when no reader's job waits.
 */

/** Where a class of jobs has its tags among the priorities, which BullMQ limits to 2^21 - 1. */
export interface JobClass {
  name: 'read' | 'prebuild';
  /** The priority of the tag 0. */
  base: number;
}

/** Tags of a class; when its virtual time has passed half of them, all are moved down. */
export const tagsOfClass = 2 ** 20 - 1;

export const reading: JobClass = { name: 'read', base: 1 };
export const prebuilding: JobClass = { name: 'prebuild', base: 1 + tagsOfClass };

/** All that adds a job within so many seconds gets the same place; the job itself is added a moment later. */
const reservationSeconds = 10;

/**
 * The Lua function `place(class, base, organization, id)`, which gives the priority of a job's next build and counts
 * it to its organization, once for all who ask at the same time. `prefix` is the prefix of the queue's keys.
 *
 * Of organizations only those that are ahead of the virtual time are kept, so their number is that of those with
 * jobs. Reservations from before a shift of the tags are known by their epoch.
 */
export const placeFunction = `
local size = ${tagsOfClass}
local fair = prefix .. 'fair'

local function shifted(id, base, by)
  local key = prefix .. id
  local priority = tonumber(redis.call('HGET', key, 'priority') or 0)
  if priority < base or priority >= base + size then return 0 end
  local change = math.max(base, priority - by) - priority
  redis.call('HINCRBY', key, 'priority', change)
  return change
end

local function shift(class, base, by)
  for _, id in ipairs(redis.call('ZRANGE', prefix .. 'prioritized', 0, -1)) do
    redis.call('ZINCRBY', prefix .. 'prioritized', shifted(id, base, by) * 4294967296, id)
  end
  for _, set in ipairs({'delayed', 'completed', 'failed'}) do
    for _, id in ipairs(redis.call('ZRANGE', prefix .. set, 0, -1)) do shifted(id, base, by) end
  end
  for _, list in ipairs({'active', 'wait'}) do
    for _, id in ipairs(redis.call('LRANGE', prefix .. list, 0, -1)) do shifted(id, base, by) end
  end
  local tags = prefix .. 'fair:' .. class
  for _, organization in ipairs(redis.call('ZRANGE', tags, 0, -1)) do
    redis.call('ZINCRBY', tags, -by, organization)
  end
  redis.call('HINCRBY', fair, class, -by)
  redis.call('HINCRBY', fair, 'epoch', 1)
end

local function place(class, base, organization, id)
  local time = tonumber(redis.call('HGET', fair, class) or 0)
  local tags = prefix .. 'fair:' .. class
  redis.call('ZREMRANGEBYSCORE', tags, '-inf', time)
  if time > size / 2 then
    shift(class, base, time)
    time = 0
  end
  local reserved = prefix .. 'fair:' .. class .. ':' .. id
  local epoch = redis.call('HGET', fair, 'epoch') or '0'
  local known, tag = string.match(redis.call('GET', reserved) or '', '^(%d+):(%d+)$')
  tag = tonumber(tag)
  if known ~= epoch or tag < time then
    tag = math.max(time, tonumber(redis.call('ZSCORE', tags, organization) or 0))
    redis.call('ZADD', tags, tag + 1, organization)
    redis.call('SET', reserved, epoch .. ':' .. tag, 'EX', ${reservationSeconds})
  end
  return base + math.min(tag, size - 1)
end
`;
