import { Redis } from 'ioredis';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';
import type { Logger } from '../../shared/platform/log.ts';

/** Looks in the time after which a worker counts as stuck. */
const pollsPerPeriod = 6;

const connectTimeoutMs = 5_000;

export interface Watched {
  redisUrl: string;
  queue: Pick<QueueAccess, 'toKey'>;
  /** How many jobs this worker could start now. */
  freeSlots(): number;
  /** How many jobs it has started so far. */
  starts(): number;
}

export interface Watchdog {
  /** Whether jobs wait that this worker should have started: it is not ready. */
  stuck(): boolean;
  stop(): void;
}

/**
 * Watches a worker for connections to Redis that never come back. It looks at what counts, from outside: for
 * `seconds` there was an answer on a connection of the watchdog's own, jobs waited, the worker had room for one, and
 * started none. A Redis that is away is no reason: then there is nothing that a new process would do better.
 *
 * @param onStuck called once.
 */
export function startWatchdog(
  watched: Watched,
  { seconds, log, onStuck }: { seconds: number; log: Logger; onStuck: () => void },
): Watchdog {
  let since: number | null = null;
  let starts = watched.starts();
  let looking = false;
  let told = false;
  const look = async () => {
    const waits = await jobsWait(watched).catch(() => false);
    const idle = watched.freeSlots() > 0 && watched.starts() === starts;
    starts = watched.starts();
    if (!waits || !idle) {
      since = null;
      return;
    }
    since ??= performance.now();
    if (told || performance.now() - since < seconds * 1000) return;
    told = true;
    log.error({ seconds }, 'jobs wait and none is started: the connection to Redis is stuck');
    onStuck();
  };
  const timer = setInterval(
    () => {
      if (looking) return;
      looking = true;
      void look().finally(() => (looking = false));
    },
    (seconds * 1000) / pollsPerPeriod,
  );
  timer.unref();
  return { stuck: () => told, stop: () => clearInterval(timer) };
}

/** Asked on a new connection each time: an old one might be what is stuck. */
async function jobsWait({ redisUrl, queue }: Watched): Promise<boolean> {
  const redis = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: connectTimeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const [front, prioritized, paused] = await Promise.all([
      redis.llen(queue.toKey('wait')),
      redis.zcard(queue.toKey('prioritized')),
      redis.hexists(queue.toKey('meta'), 'paused'),
    ]);
    return front + prioritized > 0 && paused === 0;
  } finally {
    redis.disconnect();
  }
}
