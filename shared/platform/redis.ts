import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import { LecternError, messageOf } from './errors.ts';
import { withoutCredentials } from './server-urls.ts';

/** The timeout of a command. Blocking reads use other connections. */
const commandTimeoutMs = 5_000;

/**
 * Opens a connection for callers that cannot wait (API, CLI). Commands fail at once while Redis is unavailable, and after
 * a timeout if it does not respond.
 *
 * @throws {LecternError} INTERNAL_ERROR that names the server (without credentials) and the remedy.
 */
export async function connectRedis(url: string): Promise<Redis> {
  const redis = createFastRedis(url);
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw new LecternError(
      'INTERNAL_ERROR',
      `Redis at ${withoutCredentials(url)} does not respond (${messageOf(error)}). Start it, or correct REDIS_URL.`,
      { cause: error },
    );
  }
  await assertDatabase(redis, url);
  return redis;
}

/**
 * Checks that the server has the database of the URL; otherwise ioredis silently uses database 0.
 *
 * @throws {LecternError} INTERNAL_ERROR if it does not.
 */
async function assertDatabase(redis: Redis, url: string): Promise<void> {
  const { db = 0 } = redis.options;
  if (db === 0) return;
  try {
    await redis.select(db);
  } catch (error) {
    redis.disconnect();
    throw new LecternError(
      'INTERNAL_ERROR',
      `Redis at ${withoutCredentials(url)} has no database ${db} (${messageOf(error)}). Correct the number in REDIS_URL.`,
      { cause: error },
    );
  }
}

/**
 * Opens a connection like {@link connectRedis} for optional uses: if Redis is unavailable, it connects later. Commands
 * that are called in one turn share one write, because builds coordinate many files at once.
 */
export async function connectOptionalRedis(url: string): Promise<Redis> {
  const redis = createFastRedis(url, { enableAutoPipelining: true });
  const isConnected = await redis.connect().then(
    () => true,
    () => false,
  );
  if (isConnected) await assertDatabase(redis, url);
  return redis;
}

function createFastRedis(url: string, options: Pick<RedisOptions, 'enableAutoPipelining'> = {}): Redis {
  const redis = new Redis(url, {
    ...options,
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: commandTimeoutMs,
    // Otherwise every command on a dead but open connection would run into its timeout.
    socketTimeout: commandTimeoutMs,
    connectTimeout: commandTimeoutMs,
    retryStrategy: reconnectDelay,
  });
  // Without a listener, ioredis prints each failed reconnect; failing commands report errors anyway.
  redis.on('error', () => undefined);
  return redis;
}

/** Opens a connection whose commands wait until Redis is available, for workers and BullMQ's listeners. */
export function createWaitingRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: reconnectDelay });
  redis.on('error', () => undefined);
  return redis;
}

function reconnectDelay(attempt: number): number {
  return Math.min(100 * attempt, 2_000);
}

/** Returns Redis' version and eviction policy: it must not evict jobs. @throws if it does not respond. */
export async function pingRedis(redis: Redis): Promise<{ version: string; maxmemoryPolicy: string | null }> {
  const info = await redis.info();
  // Valkey also reports a compatible version of Redis.
  const [, version = 'unknown'] =
    /^valkey_version:(\S+)/m.exec(info) ?? /^redis_version:(\S+)/m.exec(info) ?? [];
  return { version, maxmemoryPolicy: /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null };
}

/** Lua code for scripts in Redis: sets `now` to the time of Redis in ms, because the clocks of processes differ. */
export const nowInLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
