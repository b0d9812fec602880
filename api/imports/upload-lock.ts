import { setTimeout as delay } from 'node:timers/promises';
import type { Lock, Locker } from '@tus/server';
import type { Redis } from 'ioredis';
import { onAbort } from '../../shared/platform/abort-listeners.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { withLease } from '../../shared/platform/lease.ts';

export const lockedText = 'Another request writes this upload. Try again.';

/** A process that dies blocks its uploads for this long. */
const leaseMs = 10_000;

/** How long a request waits for the lock of an upload. */
const waitMs = 15_000;
const pollIntervalMs = 200;

/** How long a request for the lock stays valid unless it is repeated. */
const wantedMs = 2_000;

/**
 * Gives one request at a time the right to write an upload, across all API processes. A request that needs the lock
 * ends its holder, whose client has usually lost its connection without the server noticing.
 */
export class UploadLocker implements Locker {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, redisPrefix: string) {
    this.#redis = redis;
    this.#prefix = `${redisPrefix}:upload:`;
  }

  newLock(id: string): Lock {
    const redis = this.#redis;
    const key = this.#prefix + id;
    const wantedKey = `${key}:wanted`;
    let release: () => void = () => undefined;
    let held: Promise<unknown> = Promise.resolve();
    const tryLock = (requestRelease: () => void) =>
      new Promise<boolean>((resolve, reject) => {
        const leased = withLease(redis, { key, leaseMs }, async (lost) => {
          const stopListening = onAbort(lost, requestRelease);
          const timer = setInterval(() => {
            redis.exists(wantedKey).then(
              (wanted) => wanted === 1 && requestRelease(),
              () => undefined,
            );
          }, pollIntervalMs);
          const released = new Promise<true>((done) => (release = () => done(true)));
          resolve(true);
          await released;
          clearInterval(timer);
          stopListening();
          return true;
        });
        held = leased;
        leased.then((result) => resolve(result !== null), reject);
      });
    return {
      async lock(signal, requestRelease) {
        const end = Date.now() + waitMs;
        while (!(await tryLock(() => void requestRelease()))) {
          if (signal.aborted || Date.now() > end) {
            throw new LecternError('LOCKED', lockedText);
          }
          await redis.set(wantedKey, '1', 'PX', wantedMs);
          await delay(pollIntervalMs);
        }
        await redis.del(wantedKey);
      },
      async unlock() {
        release();
        await held.catch(() => undefined);
      },
    };
  }
}
