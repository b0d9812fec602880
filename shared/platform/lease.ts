import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

/*
 * A lease lets one process at a time do something. It expires unless its holder renews it, so a process that dies
 * blocks others for one term at most. In Redis a lease is a key with an expiry. In MongoDB it is two fields of the
 * document that it protects, so that taking it and changing the document are one write.
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
  /** What the key holds while the lease is this process's. */
  value: string;
  leaseMs: number;
}

/** Sends a command; undefined where Redis does not answer. */
type Send = <T>(command: (redis: Redis) => Promise<T>) => Promise<T | undefined>;

/**
 * Runs `work` while no other process does; returns null without running it while another one does.
 *
 * @param work gets a signal that is aborted when the lease is lost.
 * @throws what `work` throws; an error when Redis does not answer.
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
    // It expires where Redis is away.
    await redis.eval(releaseScript, 1, key, value).catch(() => undefined);
  }
}

/** Runs `work` and meanwhile renews a lease that this process holds, three times a term. The caller releases it. */
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

/** A document that one process at a time may work on. All times are MongoDB's. */
export interface Leased {
  /** The holder; null where none has the lease. */
  leaseId: string | null;
  /** When the lease expires. */
  leaseUntil: Date | null;
}

/** The fields in a schema. */
export const leaseFields = {
  leaseId: { type: String, default: null },
  leaseUntil: { type: Date, default: null },
} as const;

/** The fields of a document without a lease; as an update they release it. */
export const noLease = { leaseId: null, leaseUntil: null } as const;

/** An expression for update pipelines and `$expr`: no process has the lease, or it has expired. */
export const isUnleased = { $lte: [{ $ifNull: ['$leaseUntil', '$$NOW'] }, '$$NOW'] };

/** Returns the fields of a lease that begins now, for update pipelines. */
export function newLease(leaseId: string, leaseMs: number) {
  return { leaseId, leaseUntil: { $add: ['$$NOW', leaseMs] } };
}

/**
 * Returns a filter for documents whose lease is one date and nothing else: nothing holds them at `now`. For upserts,
 * whose filters take no expressions.
 */
export function isFreeAt(field: string, now: Date) {
  return { $or: [{ [field]: null }, { [field]: { $lte: now } }] };
}
