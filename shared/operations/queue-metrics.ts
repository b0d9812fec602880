import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import { prebuildClass } from '../exports/fair-scheduling.ts';
import { nowInLua } from '../platform/redis.ts';
import type { ExportQueue } from '../exports/queues.ts';

/** The number of waiting jobs, in the order of their start, among which the oldest is found. */
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

/** Returns the number of jobs in each state and the age of the oldest waiting one, in one round trip. */
const countScript = `
local prefix = ARGV[1]
local function requestedAt(id)
  return tonumber(redis.call('HGET', prefix .. id, 'timestamp') or 0)
end
local front = redis.call('LRANGE', prefix .. 'wait', 0, ARGV[3] - 1)
local behind = '(' .. ARGV[2]
local read = redis.call('ZRANGEBYSCORE', prefix .. 'prioritized', '-inf', behind, 'LIMIT', 0, ARGV[3])
local oldest = 0
for _, ids in ipairs({front, read}) do
  for _, id in ipairs(ids) do
    local at = requestedAt(id)
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
 * Registers metrics of the export queue, read at each scrape. All processes report the same queue: use the maximum of
 * their figures, not the sum. While Redis is unavailable, the figures are missing.
 */
export function registerQueueMetrics(registry: Registry, queue: ExportQueue): void {
  const registers = [registry];
  let reading: Promise<number[] | null> | null = null;
  // Both gauges of a scrape share one read.
  const figures = () =>
    (reading ??= readCounts(queue)
      .catch(() => null)
      .finally(() => (reading = null)));
  new Gauge({
    name: 'lectern_export_queue_jobs',
    help: 'Exports in the queue: waiting for clients, waiting to be prebuilt, being built, being prebuilt, delayed until a retry, ended.',
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
    help: 'The longest wait among the next 1,000 requested exports; 0 for none.',
    registers,
    async collect() {
      const milliseconds = (await figures())?.[states.length];
      if (milliseconds === undefined) this.remove();
      else this.set(milliseconds / 1000);
    },
  });
}

async function readCounts(queue: ExportQueue): Promise<number[]> {
  // BullMQ's scores: the priority, then a counter of 32 bits.
  const behind = prebuildClass.base * 2 ** 32;
  return (await queue.redis.eval(
    countScript,
    0,
    queue.toKey(''),
    behind,
    agedJobs,
    prebuildClass.base,
  )) as number[];
}
