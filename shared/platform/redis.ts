// cspell:ignore NOAUTH NOPERM -- errors of Redis
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
    const reason = reasonOf(redis, error);
    redis.disconnect();
    throw new LecternError('INTERNAL_ERROR', describeConnectError(url, reason), { cause: error });
  }
  await assertDatabase(redis, url);
  return redis;
}

/** ioredis rejects with "Connection is closed", and only emits the error that closed the connection. */
const connectionErrors = new WeakMap<Redis, Error>();

/** Returns why a command failed: the error that closed the connection, if that is why. */
export function reasonOf(redis: Redis, error: unknown): string {
  const lost = /Connection is closed|Stream isn't writeable|MaxRetriesPerRequest/i.test(String(error));
  return messageOf((lost && connectionErrors.get(redis)) || error);
}

/** Remedies for the errors that connections end with. */
const remedies: [pattern: RegExp, remedy: string][] = [
  [/WRONGPASS|NOAUTH|invalid password|no password is set/i, 'Correct the user and password in REDIS_URL.'],
  [/ENOTFOUND|EAI_AGAIN/, 'Correct the host in REDIS_URL.'],
  [/ECONNREFUSED/, 'Start it, or correct host and port in REDIS_URL.'],
  [
    /certificate|CERT/,
    'Correct the host in REDIS_URL, or add the CA that signed the certificate with NODE_EXTRA_CA_CERTS.',
  ],
  [
    /ECONNRESET|Connection is closed|EPROTO|wrong version/i,
    'If it expects TLS, write rediss:// in REDIS_URL.',
  ],
  [
    /ETIMEDOUT/,
    'Correct host and port in REDIS_URL. If the server has no TLS, write redis://, not rediss://.',
  ],
  [/NOPERM/, 'Allow the user in REDIS_URL all commands and keys.'],
];

function describeConnectError(url: string, reason: string): string {
  const remedy = remedies.find(([pattern]) => pattern.test(reason))?.[1] ?? 'Start it, or correct REDIS_URL.';
  return `No connection to Redis at ${withoutCredentials(url)} (${reason}). ${remedy}`;
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
 *
 * @param warn gets the reason and the remedy if Redis is unavailable now.
 */
export async function connectOptionalRedis(url: string, warn: (message: string) => void): Promise<Redis> {
  const redis = createFastRedis(url, { enableAutoPipelining: true });
  try {
    await redis.connect();
  } catch (error) {
    warn(describeConnectError(url, reasonOf(redis, error)));
    return redis;
  }
  await assertDatabase(redis, url);
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
  redis.on('error', (error) => connectionErrors.set(redis, error));
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

/** Fields of the report that Redis gives about itself. */
export interface RedisFacts {
  version: string;
  /** It must not evict jobs; null if the server does not report it. */
  maxmemoryPolicy: string | null;
  /** Bytes in use, and the limit; null without a limit. At the limit, Redis refuses writes. */
  memory: { used: number; max: number } | null;
}

/** Reads {@link RedisFacts}. @throws {LecternError} INTERNAL_ERROR with the reason, if Redis does not respond. */
export async function pingRedis(redis: Redis): Promise<RedisFacts> {
  const info = await redis.info().catch((error: unknown) => {
    throw new LecternError('INTERNAL_ERROR', reasonOf(redis, error), { cause: error });
  });
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
  const [used, max] = [Number(field('used_memory')), Number(field('maxmemory'))];
  return {
    // Valkey also reports a compatible version of Redis.
    version: field('valkey_version') ?? field('redis_version') ?? 'unknown',
    maxmemoryPolicy: field('maxmemory_policy') ?? null,
    memory: max > 0 ? { used, max } : null,
  };
}

/** Throws if Redis has no memory for another write. @throws {LecternError} INTERNAL_ERROR with the remedy. */
export function assertRoom({ memory }: Pick<RedisFacts, 'memory'>): void {
  if (memory === null || memory.used < memory.max) return;
  const reason = `Redis is full: it uses ${memory.used} of ${memory.max} bytes and refuses writes. Raise its maxmemory.`;
  throw new LecternError('INTERNAL_ERROR', reason);
}

/** Lua code for scripts in Redis: sets `now` to the time of Redis in ms, because the clocks of processes differ. */
export const nowInLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
