/**
 * Fair scheduling of exports between organizations: start-time fair queueing (Goyal, Vin, Cheng: SIGCOMM 1996) over the
 * priorities of BullMQ, which starts jobs with lower numbers first. Each job gets a tag: the virtual time, or the tag
 * after its organization's last one if that is larger. The virtual time is the tag of the job that started last. An
 * organization without waiting jobs therefore comes before all but the next job of every other organization.
 *
 * Readers' jobs and pre-builds are two classes, each with its own virtual time and tags. A pre-build starts only while
 * no reader's job waits.
 */

/** A class of jobs and its range of priorities. BullMQ limits priorities to 2^21 - 1. */
export interface JobClass {
  name: 'read' | 'prebuild';
  /** The priority of tag 0. */
  base: number;
}

/** Once the virtual time of a class passes half of its tags, all of them move down. */
export const tagsPerClass = 2 ** 20 - 1;

export const readerClass: JobClass = { name: 'read', base: 1 };
export const prebuildClass: JobClass = { name: 'prebuild', base: 1 + tagsPerClass };

/** How long concurrent callers get the same tag for a job; one of them adds the job within moments. */
const reservationSeconds = 10;

/**
 * The Lua function `assign_priority(class, base, organization, id)`: returns the priority of a job's next build, and
 * counts the build for its organization, once for concurrent callers. `prefix` is the prefix of the queue's keys.
 *
 * Redis keeps only organizations whose tags are ahead of the virtual time, so there are at most as many as have jobs.
 * The epoch identifies reservations from before the tags moved down.
 */
export const priorityFunction = `
local size = ${tagsPerClass}
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

local function assign_priority(class, base, organization, id)
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
