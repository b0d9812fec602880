import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';

const windowSeconds = 15 * 60;

/** One address may be that of a school. */
const accountsAtAnAddress = 10;

/**
 * Counts log-ins in Redis, for all API processes, so that passwords cannot be guessed. Tries for one account count by
 * the address that they come from: a stranger cannot lock anybody out.
 */
export class LogInThrottle {
  readonly #byAccount: RateLimiterRedis;
  readonly #byAddress: RateLimiterRedis;

  constructor(redis: Redis, { redisPrefix, session }: Pick<Config, 'redisPrefix' | 'session'>) {
    const limiter = (name: string, points: number) =>
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `${redisPrefix}:log-in:${name}`,
        points,
        duration: windowSeconds,
      });
    this.#byAccount = limiter('account', session.loginTries);
    this.#byAddress = limiter('address', session.loginTries * accountsAtAnAddress);
  }

  /**
   * Counts a try, before its password is looked at: of many at once no more than allowed get through.
   *
   * @param address as `clientIp` gives it.
   * @throws {LecternError} TOO_MANY_REQUESTS with the time until tries count anew.
   */
  async count(email: string, address: string): Promise<void> {
    try {
      await this.#byAccount.consume(accountKey(email, address));
      await this.#byAddress.consume(address);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw tooManyTries(error);
    }
  }

  /**
   * Lets a right password in that comes with every request, as those of HTTP Basic authentication do: it counts as no
   * try, and takes back the tries before it. Over the limit it is refused as wrong ones are, or guessing could go on.
   *
   * @throws {LecternError} as `count`.
   */
  async admit(email: string, address: string): Promise<void> {
    const [account, atAddress] = await Promise.all([
      this.#byAccount.get(accountKey(email, address)),
      this.#byAddress.get(address),
    ]);
    for (const tries of [account, atAddress]) {
      if (tries !== null && tries.remainingPoints <= 0) throw tooManyTries(tries);
    }
    if (account !== null) await this.#byAccount.delete(accountKey(email, address));
  }

  /** Takes back the tries of who has logged in; of the address only this one, which others may use to guess. */
  async forgive(email: string, address: string): Promise<void> {
    await Promise.all([
      this.#byAccount.delete(accountKey(email, address)),
      this.#byAddress.reward(address, 1),
    ]);
  }
}

/** The text of the 429. */
export const tooManyLogIns = 'Too many log-in attempts; try again later';

function tooManyTries({ msBeforeNext }: RateLimiterRes): LecternError {
  return new LecternError('TOO_MANY_REQUESTS', tooManyLogIns, {
    retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  });
}

function accountKey(email: string, address: string): string {
  return createHash('sha256')
    .update(JSON.stringify([email, address]))
    .digest('hex');
}
