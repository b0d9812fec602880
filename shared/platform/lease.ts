import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

/*
 * A lease is a lock that expires unless its holder renews it, so a process that dies blocks others for one term at most.
 * In Redis, a lease is a key with an expiry. In MongoDB, it is two fields of the document that it protects, so that
 * acquiring it and changing the document are one write.
 */

const renewScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;

interface RedisLease {
  key: string;
  /** The value of the key while this process holds the lease. */
  value: string;
  leaseMs: number;
}

/** Sends a command; returns undefined if Redis does not respond. */
type Send = <T>(command: (redis: Redis) => Promise<T>) => Promise<T | undefined>;

/**
 * Runs `work` under a lease; returns null without running it if another process holds the lease.
 *
 * @param work gets a signal that is aborted if the lease is lost.
 * @throws the errors of `work`; an error if Redis does not respond.
 */
export async function withLease<T>(
  redis: Redis,
  { key, leaseMs }: Omit<RedisLease, 'value'>,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const value = randomUUID();
  if ((await redis.set(key, value, 'PX', leaseMs, 'NX')) === null) return null;
  try {
    const send: Send = (command) => command(redis).catch(() => undefined);
    return await renewingLease(send, { key, value, leaseMs }, work);
  } finally {
    // While Redis is unavailable, the lease expires on its own.
    await redis.eval(releaseScript, 1, key, value).catch(() => undefined);
  }
}

/** Runs `work` and renews a lease that this process holds, three times a term. The caller releases it. */
export async function renewingLease<T>(
  send: Send,
  { key, value, leaseMs }: RedisLease,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const renew = async () => {
    const renewed = await send((redis) => redis.eval(renewScript, 1, key, value, leaseMs));
    if (renewed !== 1) lost.abort(new Error(`the lease ${key} was lost`));
  };
  const timer = setInterval(() => void renew(), leaseMs / 3);
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(timer);
  }
}

/** A document with a lease. All times are MongoDB's. */
export interface Leased {
  /** The holder; null without one. */
  leaseId: string | null;
  /** When the lease expires. */
  leaseUntil: Date | null;
}

/** The lease fields of a schema. */
export const leaseFields = {
  leaseId: { type: String, default: null },
  leaseUntil: { type: Date, default: null },
} as const;

/** The lease fields of an unleased document; as an update, they release the lease. */
export const noLease = { leaseId: null, leaseUntil: null } as const;

/** An expression for update pipelines and `$expr`: no process holds the lease, or it has expired. */
export const isUnleased = { $lte: [{ $ifNull: ['$leaseUntil', '$$NOW'] }, '$$NOW'] };

/** Returns the fields of a lease that begins now, for update pipelines. */
export function newLease(leaseId: string, leaseMs: number) {
  return { leaseId, leaseUntil: { $add: ['$$NOW', leaseMs] } };
}

/**
 * Returns a filter for documents that are free at `now`, where the lease is only an expiry. For upserts, whose filters
 * allow no expressions.
 */
export function isFreeAt(field: string, now: Date) {
  return { $or: [{ [field]: null }, { [field]: { $lte: now } }] };
}
