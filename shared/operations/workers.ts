import { randomUUID } from 'node:crypto';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { QueueAccess } from '../exports/queue-access.ts';
import { nowInLua } from '../platform/redis.ts';

/** A worker without a heartbeat for this time counts as gone. */
const heartbeatTtlMs = 15_000;
const heartbeatIntervalMs = heartbeatTtlMs / 3;

/** The key of a sorted set: worker ids, by the time until which each counts as running. */
function workersKey(queue: QueueAccess): string {
  return queue.toKey('workers');
}

const heartbeatScript = `
${nowInLua}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ${heartbeatTtlMs}), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${heartbeatTtlMs})
`;

const countScript = `
${nowInLua}
return redis.call('ZCOUNT', KEYS[1], string.format('(%.0f', now), '+inf')
`;

/**
 * Counts the worker processes that take export jobs, on all hosts. A crashed worker counts for up to 15 seconds.
 *
 * Workers send heartbeats, because BullMQ's own list reads the names of Redis clients: managed services may not keep
 * them, and it takes longer the more clients there are.
 *
 * @throws if Redis does not respond.
 */
export async function countWorkers(queue: QueueAccess): Promise<number> {
  return (await queue.redis.eval(countScript, 1, workersKey(queue))) as number;
}

/**
 * Sends heartbeats on a worker's own connection, so that a worker whose connection is stuck is not counted.
 *
 * @returns a function that stops them and removes the worker from the count.
 */
export function startHeartbeat(queue: QueueAccess): () => void {
  const key = workersKey(queue);
  const id = randomUUID();
  let sending = false;
  const send = async () => {
    // While Redis is unavailable, commands queue up on the worker's connection, and one is enough.
    if (sending) return;
    sending = true;
    await queue.redis.eval(heartbeatScript, 1, key, id).catch(() => undefined);
    sending = false;
  };
  void send();
  const timer = setInterval(() => void send(), heartbeatIntervalMs);
  return () => {
    clearInterval(timer);
    queue.redis.zrem(key, id).catch(() => undefined);
  };
}

/** Registers the number of running workers. While Redis is unavailable, the figure is missing. */
export function registerWorkerCount(registry: Registry, queue: QueueAccess): void {
  new Gauge({
    name: 'lectern_workers',
    help: 'Worker processes that take export jobs, on all hosts.',
    registers: [registry],
    async collect() {
      const count = await countWorkers(queue).catch(() => null);
      if (count === null) this.remove();
      else this.set(count);
    },
  });
}
