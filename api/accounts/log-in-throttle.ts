import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';

const windowSeconds = 15 * 60;

/** High, because a whole school may share an IP address. */
const accountsPerIp = 10;

/**
 * Rate limit of logins against guessed passwords, counted in Redis for all API processes. Attempts for an account count
 * by IP address, so a stranger cannot lock the user out.
 */
export class LogInThrottle {
  readonly #byAccount: RateLimiterRedis;
  readonly #byIp: RateLimiterRedis;

  constructor(redis: Redis, { redisPrefix, session }: Pick<Config, 'redisPrefix' | 'session'>) {
    const limiter = (name: string, points: number) =>
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `${redisPrefix}:log-in:${name}`,
        points,
        duration: windowSeconds,
      });
    this.#byAccount = limiter('account', session.loginTries);
    this.#byIp = limiter('address', session.loginTries * accountsPerIp);
  }

  /**
   * Counts an attempt. Call it before the password check, so that concurrent attempts cannot exceed the limit.
   *
   * @param ip the result of `clientIp`.
   * @throws {LecternError} TOO_MANY_REQUESTS with the time until the limit resets.
   */
  async count(email: string, ip: string): Promise<void> {
    try {
      await this.#byAccount.consume(accountKey(email, ip));
      await this.#byIp.consume(ip);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      throw tooManyAttempts(error);
    }
  }

  /**
   * Admits a correct password that comes with every request (HTTP Basic authentication): it is not counted, and resets
   * the count. Over the limit it is rejected like a wrong one; otherwise guessing could continue.
   *
   * @throws {LecternError} as `count`.
   */
  async admit(email: string, ip: string): Promise<void> {
    const [account, fromIp] = await Promise.all([
      this.#byAccount.get(accountKey(email, ip)),
      this.#byIp.get(ip),
    ]);
    for (const attempts of [account, fromIp]) {
      if (attempts !== null && attempts.remainingPoints <= 0) throw tooManyAttempts(attempts);
    }
    if (account !== null) await this.#byAccount.delete(accountKey(email, ip));
  }

  /**
   * Resets the count of the account after a login. Refunds only this attempt to the IP address, because other users may
   * share it.
   */
  async forgive(email: string, ip: string): Promise<void> {
    await Promise.all([this.#byAccount.delete(accountKey(email, ip)), this.#byIp.reward(ip, 1)]);
  }
}

/** The text of the 429. */
export const tooManyLogIns = 'Too many login attempts; try again later';

function tooManyAttempts({ msBeforeNext }: RateLimiterRes): LecternError {
  return new LecternError('TOO_MANY_REQUESTS', tooManyLogIns, {
    retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  });
}

function accountKey(email: string, ip: string): string {
  return createHash('sha256')
    .update(JSON.stringify([email, ip]))
    .digest('hex');
}
