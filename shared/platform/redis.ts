import { Redis } from 'ioredis';
import { LecternError, messageOf } from './errors.ts';
import { withoutCredentials } from './server-urls.ts';

/** How long one command may take. Blocking reads have connections of their own. */
const commandMilliseconds = 5_000;

/**
 * A connection for callers who cannot wait (the API, the CLI): a command fails at once while Redis is away, and
 * within its deadline when Redis does not answer.
 *
 * @throws {LecternError} INTERNAL_ERROR that names the server (without credentials) and what to do.
 */
export async function connectRedis(url: string): Promise<Redis> {
  const redis = createFastRedis(url);
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw new LecternError(
      'INTERNAL_ERROR',
      `Redis at ${withoutCredentials(url)} does not answer (${messageOf(error)}). Start it, or correct REDIS_URL.`,
      { cause: error },
    );
  }
  await assertDatabase(redis, url);
  return redis;
}

/**
 * Where the server lacks the database that a URL names, the client itself goes on in database 0, among other keys.
 *
 * @throws {LecternError} INTERNAL_ERROR that says so.
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

/** As {@link connectRedis}, for what can do without Redis: where it is away, the connection comes when it is back. */
export async function connectOptionalRedis(url: string): Promise<Redis> {
  const redis = createFastRedis(url);
  const isConnected = await redis.connect().then(
    () => true,
    () => false,
  );
  if (isConnected) await assertDatabase(redis, url);
  return redis;
}

function createFastRedis(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: commandMilliseconds,
    // A connection that is dead without being closed would let every command wait for its deadline, for ever.
    socketTimeout: commandMilliseconds,
    connectTimeout: commandMilliseconds,
    retryStrategy: reconnectDelay,
  });
  // Without a listener each failed reconnect would be printed; the commands that fail say so themselves.
  redis.on('error', () => undefined);
  return redis;
}

/** A connection for workers and listeners, which wait for Redis as long as it takes; BullMQ asks for null retries. */
export function createWaitingRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: reconnectDelay });
  redis.on('error', () => undefined);
  return redis;
}

function reconnectDelay(attempt: number): number {
  return Math.min(100 * attempt, 2_000);
}

/** Whether Redis answers, its version, and whether it would rather evict jobs than refuse writes. */
export async function pingRedis(redis: Redis): Promise<{ version: string; maxmemoryPolicy: string | null }> {
  const info = await redis.info();
  // Valkey states the Redis it is compatible with as well.
  const [, version = 'unknown'] =
    /^valkey_version:(\S+)/m.exec(info) ?? /^redis_version:(\S+)/m.exec(info) ?? [];
  return { version, maxmemoryPolicy: /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? null };
}
