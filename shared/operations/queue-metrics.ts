import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { prebuildClass } from '../exports/fair-scheduling.ts';
import { nowInLua } from '../platform/lua.ts';
import type { ExportQueue } from '../exports/queues.ts';

/** Of how many waiting jobs the age is looked at; the first of them are those that start next. */
const agedJobs = 1000;

const states = [
  'waiting',
  'prebuild',
  'active',
  'active_prebuild',
  'delayed',
  'completed',
  'failed',
] as const;

/** Everything in one round trip: how many jobs are in each state, and when the oldest waiting one was asked for. */
const lookScript = `
local prefix = ARGV[1]
local function asked(id)
  return tonumber(redis.call('HGET', prefix .. id, 'timestamp') or 0)
end
local front = redis.call('LRANGE', prefix .. 'wait', 0, ARGV[3] - 1)
local behind = '(' .. ARGV[2]
local read = redis.call('ZRANGEBYSCORE', prefix .. 'prioritized', '-inf', behind, 'LIMIT', 0, ARGV[3])
local oldest = 0
for _, ids in ipairs({front, read}) do
  for _, id in ipairs(ids) do
    local at = asked(id)
    if at > 0 and (oldest == 0 or at < oldest) then oldest = at end
  end
end
${nowInLua}
local age = oldest == 0 and 0 or math.max(0, now - oldest)
local active = redis.call('LRANGE', prefix .. 'active', 0, -1)
local prebuilt = 0
for _, id in ipairs(active) do
  if tonumber(redis.call('HGET', prefix .. id, 'priority') or 0) >= tonumber(ARGV[4]) then prebuilt = prebuilt + 1 end
end
return {
  redis.call('LLEN', prefix .. 'wait') + redis.call('ZCOUNT', prefix .. 'prioritized', '-inf', behind),
  redis.call('ZCOUNT', prefix .. 'prioritized', ARGV[2], '+inf'),
  #active - prebuilt,
  prebuilt,
  redis.call('ZCARD', prefix .. 'delayed'),
  redis.call('ZCARD', prefix .. 'completed'),
  redis.call('ZCARD', prefix .. 'failed'),
  age,
}
`;

/**
 * Adds the state of the export queue to a registry, looked up when it is scraped. Every process that does so reports
 * the same queue: take the largest of the figures, not their sum. While Redis is away the figures are missing.
 */
export function registerQueueMetrics(registry: Registry, queue: ExportQueue): void {
  const registers = [registry];
  let looking: Promise<number[] | null> | null = null;
  // Both ask when a scrape comes, for the same look.
  const figures = () =>
    (looking ??= look(queue)
      .catch(() => null)
      .finally(() => (looking = null)));
  new Gauge({
    name: 'lectern_export_queue_jobs',
    help: 'Exports in the queue: waiting for readers, to be pre-built, being built (for readers, or before any asks), paused before another try, ended.',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = await figures();
      this.reset();
      if (counts !== null) states.forEach((state, index) => this.set({ state }, counts[index] ?? 0));
    },
  });
  new Gauge({
    name: 'lectern_export_queue_oldest_waiting_seconds',
    help: 'How long the oldest of the next 1,000 exports that readers asked for has been waiting; 0 for none.',
    registers,
    async collect() {
      const milliseconds = (await figures())?.[states.length];
      if (milliseconds === undefined) this.remove();
      else this.set(milliseconds / 1000);
    },
  });
}

async function look(queue: ExportQueue): Promise<number[]> {
  // BullMQ's scores: the priority, then a counter of 32 bits.
  const behind = prebuildClass.base * 2 ** 32;
  return (await queue.redis.eval(
    lookScript,
    0,
    queue.toKey(''),
    behind,
    agedJobs,
    prebuildClass.base,
  )) as number[];
}
