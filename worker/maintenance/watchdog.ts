import { Redis } from 'ioredis';
import { ExportQueue } from '../../shared/exports/queues.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';

/** The number of polls within the period after which a worker counts as stuck. */
const pollsPerPeriod = 6;

const connectTimeoutMs = 5_000;

export interface Watched {
  redisUrl: string;
  config: Pick<Config, 'redisPrefix'>;
  /** Returns the number of jobs that this worker could start now. */
  freeSlots(): number;
  /** Returns the number of jobs that it has started so far. */
  starts(): number;
}

export interface Watchdog {
  /** Returns whether jobs are waiting that this worker should have started. It is then not ready. */
  stuck(): boolean;
  stop(): void;
}

/**
 * Detects a worker whose connection to Redis never recovers. A worker is stuck if it had a free slot and jobs were
 * waiting for `seconds`, but it started none although Redis responded to the watchdog's own connections. While Redis is
 * down, the worker does not count as stuck, because a new process would not help.
 *
 * @param onStuck called once.
 */
export function startWatchdog(
  watched: Watched,
  { seconds, log, onStuck }: { seconds: number; log: Logger; onStuck: () => void },
): Watchdog {
  let since: number | null = null;
  let starts = watched.starts();
  let polling = false;
  let reported = false;
  const poll = async () => {
    const waits = await jobsWait(watched).catch(() => false);
    const idle = watched.freeSlots() > 0 && watched.starts() === starts;
    starts = watched.starts();
    if (!waits || !idle) {
      since = null;
      return;
    }
    since ??= performance.now();
    if (reported || performance.now() - since < seconds * 1000) return;
    reported = true;
    log.error({ seconds }, 'jobs are waiting and none starts: the connection to Redis is stuck');
    onStuck();
  };
  const timer = setInterval(
    () => {
      if (polling) return;
      polling = true;
      void poll().finally(() => (polling = false));
    },
    (seconds * 1000) / pollsPerPeriod,
  );
  timer.unref();
  return { stuck: () => reported, stop: () => clearInterval(timer) };
}

/** Uses a new connection each time, because an old one might be stuck. */
async function jobsWait({ redisUrl, config }: Watched): Promise<boolean> {
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
    const queue = new ExportQueue(redis, config);
    const [{ waiting = 0, prioritized = 0 }, isPaused] = await Promise.all([
      queue.getJobCounts('waiting', 'prioritized'),
      queue.isPaused(),
    ]);
    return waiting + prioritized > 0 && !isPaused;
  } finally {
    redis.disconnect();
  }
}
