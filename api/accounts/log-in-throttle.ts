import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { User } from '../../shared/models/user.ts';
import { auditedChange, auditRequest } from '../http/audit.ts';
import type { AuditDependencies } from '../http/audit.ts';
import { clientIp } from '../http/client-ip.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { KnownBrowsers } from './known-browsers.ts';
import type { SessionDependencies } from './user-sessions.ts';

const windowSeconds = 15 * 60;

/** High, because a whole school may share an IP address. */
const accountsPerIp = 10;

/** An attacker with many IP addresses gets the tries of ten of them. Right passwords count too: each takes a hash. */
const ipsPerAccount = 10;

/** A code has six digits, three are valid at a time: an attacker who has the password needs decades. */
const wrongCodesPerDay = 20;

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
 * by IP address, or by browser if the user has logged in there before. They also count together over all IP addresses,
 * and wrong codes over a day, both apart for browsers in which the user has logged in before. So strangers cannot lock
 * users out of their own browsers.
 */
export class LogInThrottle {
  readonly #byAccount: RateLimiterRedis;
  readonly #byIp: RateLimiterRedis;
  readonly #inAll: RateLimiterRedis;
  readonly #codes: RateLimiterRedis;

  constructor(redis: Redis, { redisPrefix, session }: Pick<Config, 'redisPrefix' | 'session'>) {
    const limiter = (name: string, points: number, duration = windowSeconds) =>
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix: `${redisPrefix}:log-in:${name}`,
        points,
        duration,
      });
    this.#byAccount = limiter('account', session.loginTries);
    this.#byIp = limiter('address', session.loginTries * accountsPerIp);
    this.#inAll = limiter('all', session.loginTries * ipsPerAccount);
    this.#codes = limiter('codes', wrongCodesPerDay, 24 * 3600);
  }

  /**
   * Counts an attempt. Call it before the password check, so that concurrent attempts cannot exceed the limit.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS with the time until the limit resets.
   */
  async count(email: string, origin: LogInOrigin): Promise<void> {
    await consume(this.#byAccount, accountKey(email, origin));
    await consume(this.#byIp, origin.ip);
    if (origin.browser !== undefined) await consume(this.#inAll, sharedKey(email, origin));
  }

  /** Counts a code of an authenticator app before its check. @throws {LecternError} as `count`. */
  async countCode(email: string, origin: LogInOrigin): Promise<void> {
    await consume(this.#codes, sharedKey(email, origin));
  }

  /** Refunds a right code. */
  async refundCode(email: string, origin: LogInOrigin): Promise<void> {
    await this.#codes.reward(sharedKey(email, origin), 1);
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

  /**
   * Refunds an attempt that was no guess: a right password, for which a code is still missing. The count over all IP
   * addresses stays, because even right passwords could occupy the hashing.
   */
  async refund(email: string, origin: LogInOrigin): Promise<void> {
    await Promise.all([
      this.#byAccount.reward(accountKey(email, origin), 1),
      this.#byIp.reward(origin.ip, 1),
    ]);
  }

  /**
   * Resets the count of the account after a login. Refunds only this attempt to the IP address, because others may share
   * its count.
   */
  async forgive(email: string, origin: LogInOrigin): Promise<void> {
    await Promise.all([this.#byAccount.delete(accountKey(email, origin)), this.#byIp.reward(origin.ip, 1)]);
  }
}

/** Returns a function that checks a logged-in user's own password or code, throttled and audited as logins are. */
export function throttledCheck(
  deps: SessionDependencies & AuditDependencies,
  what: 'password' | 'code',
  text: string,
) {
  const throttle = new LogInThrottle(deps.redis, deps.config);
  const knownBrowsers = new KnownBrowsers(deps.config);
  /** @throws {LecternError} INVALID_CONTENT with the text if the check fails; TOO_MANY_REQUESTS. */
  return async (ctx: EndpointContext, { _id: id, email }: User, check: () => Promise<boolean>) => {
    const origin = { ip: clientIp(ctx), browser: knownBrowsers.find(ctx, email) };
    await throttle.count(email, origin);
    if (what === 'code') await throttle.countCode(email, origin);
    if (!(await check())) {
      auditedChange.set(ctx, { target: { type: 'user', id }, details: { reason: `wrong_${what}` } });
      await auditRequest(deps, ctx, 'session.reject', {}, false);
      throw new LecternError('INVALID_CONTENT', text);
    }
    if (what === 'code') await throttle.refundCode(email, origin);
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

/** @throws {LecternError} TOO_MANY_REQUESTS */
async function consume(limiter: RateLimiterRedis, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw tooManyAttempts(error);
  }
}

/** The key of counts over all IP addresses, and over all browsers in which the user has logged in before. */
function sharedKey(email: string, { browser }: LogInOrigin): string {
  return digestOf(JSON.stringify([email, typeof browser === 'string']));
}

function accountKey(email: string, { ip, browser }: LogInOrigin): string {
  return digestOf(JSON.stringify([email, browser ?? ip]));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
