import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { User } from '../../shared/models/user.ts';
import { clientIp } from '../http/client-ip.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { KnownBrowsers } from './known-browsers.ts';
import type { SessionDependencies } from './user-sessions.ts';

const windowSeconds = 15 * 60;

/** High, because a whole school may share an IP address. */
const accountsPerIp = 10;

/** An attacker with many IP addresses gets the tries of ten of them. */
const ipsPerAccount = 10;

/** Where an attempt comes from. */
export interface LogInOrigin {
  /** The result of `clientIp`. */
  ip: string;
  /**
   * The id of the browser, if the user has logged in there before; null for any other browser. Undefined for accounts
   * without a limit across IP addresses.
   */
  browser?: string | null;
}

/**
 * Rate limit of logins against guessed passwords, counted in Redis for all API processes. Attempts for an account count
 * by IP address, or by browser if the user has logged in there before. Those from other browsers also count together,
 * over all IP addresses. So strangers cannot lock users out of their own browsers.
 */
export class LogInThrottle {
  readonly #byAccount: RateLimiterRedis;
  readonly #byIp: RateLimiterRedis;
  readonly #byStrangers: RateLimiterRedis;

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
    this.#byStrangers = limiter('strangers', session.loginTries * ipsPerAccount);
  }

  /**
   * Counts an attempt. Call it before the password check, so that concurrent attempts cannot exceed the limit.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS with the time until the limit resets.
   */
  async count(email: string, origin: LogInOrigin): Promise<void> {
    try {
      await this.#byAccount.consume(accountKey(email, origin));
      await this.#byIp.consume(origin.ip);
      if (origin.browser === null) await this.#byStrangers.consume(digestOf(email));
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
  async admit(email: string, origin: LogInOrigin): Promise<void> {
    const key = accountKey(email, origin);
    const [account, fromIp] = await Promise.all([this.#byAccount.get(key), this.#byIp.get(origin.ip)]);
    for (const attempts of [account, fromIp]) {
      if (attempts !== null && attempts.remainingPoints <= 0) throw tooManyAttempts(attempts);
    }
    if (account !== null) await this.#byAccount.delete(key);
  }

  /** Refunds an attempt that was no guess: a right password, for which a code is still missing. */
  async refund(email: string, origin: LogInOrigin): Promise<void> {
    await Promise.all([
      this.#byAccount.reward(accountKey(email, origin), 1),
      this.#refundShared(email, origin),
    ]);
  }

  /**
   * Resets the count of the account after a login. Refunds only this attempt to the IP address and to the strangers,
   * because others may share these counts.
   */
  async forgive(email: string, origin: LogInOrigin): Promise<void> {
    await Promise.all([this.#byAccount.delete(accountKey(email, origin)), this.#refundShared(email, origin)]);
  }

  async #refundShared(email: string, { ip, browser }: LogInOrigin): Promise<void> {
    await Promise.all([
      this.#byIp.reward(ip, 1),
      browser === null && this.#byStrangers.reward(digestOf(email), 1),
    ]);
  }
}

/** Returns a function that runs a check of a user's own password or code, throttled as logins are. */
export function throttledCheck({ redis, config }: { redis: Redis; config: SessionDependencies['config'] }) {
  const throttle = new LogInThrottle(redis, config);
  const knownBrowsers = new KnownBrowsers(config);
  /** @throws {LecternError} INVALID_CONTENT with the text if the check fails; TOO_MANY_REQUESTS. */
  return async (ctx: EndpointContext, { email }: User, text: string, check: () => Promise<boolean>) => {
    const origin = { ip: clientIp(ctx), browser: knownBrowsers.find(ctx, email) };
    await throttle.count(email, origin);
    if (!(await check())) throw new LecternError('INVALID_CONTENT', text);
    await throttle.forgive(email, origin);
  };
}

/** The text of the 429. */
export const tooManyLogIns = 'Too many login attempts; try again later';

function tooManyAttempts({ msBeforeNext }: RateLimiterRes): LecternError {
  return new LecternError('TOO_MANY_REQUESTS', tooManyLogIns, {
    retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  });
}

function accountKey(email: string, { ip, browser }: LogInOrigin): string {
  return digestOf(JSON.stringify([email, browser ?? ip]));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
