import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../../shared/platform/cache-size.ts';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../../shared/platform/config.ts';
import { clientIp } from '../client-ip.ts';
import { failure } from '../responses.ts';
import { tooMany } from '../retry-after.ts';

const windowSeconds = 60;

/** How often an organization may replay deliveries. A replay may change more than 100,000 rows. */
const replaysPerMinute = 6;

/** How often an organization may test receivers. Each test is a request to a host of its choice. */
const testsPerMinute = 12;

/** The maximum number of keys within a minute. Beyond it, the oldest counts are dropped. A count takes about 0.8 KB. */
const defaultMaxKeys = 50_000;

const policyHeader = 'RateLimit-Policy';
const stateHeader = 'RateLimit';

/**
 * A rate limit: the number of requests that a key may make per minute. The minute begins with the key's first request.
 */
export interface RateLimit {
  /**
   * Counts a request, and sets headers with the remaining quota (draft-ietf-httpapi-ratelimit-headers).
   *
   * @throws {LecternError} TOO_MANY_REQUESTS if the key is over its limit.
   */
  count(ctx: { set: (name: string, value: string) => void }, key: string): Promise<void>;
  /** Refunds a counted request and removes its response headers. */
  uncount(ctx: { remove: (name: string) => void }, key: string): Promise<void>;
}

/** The rate limits of one process; each process counts for itself (docs/decisions/0008). */
export interface RateLimits {
  /** For requests with valid API credentials, by public key. */
  perKey: RateLimit;
  /** For requests with a session, by the user's id. */
  perUser: RateLimit;
  /** For all other requests, by `clientIp`. */
  perAddress: RateLimit;
  /** For requests that send many deliveries again, by organization. */
  replays: RateLimit;
  /** For requests that test a receiver, by organization. */
  tests: RateLimit;
}

/** The 429 of every endpoint with a rate limit. */
export const tooManyRequests = failure(
  'The limit of requests a minute is reached.',
  'Too many requests; try again in 42 seconds',
);

export function createRateLimits({ rateLimit }: Pick<Config, 'rateLimit'>): RateLimits {
  return {
    perKey: createRateLimit('key', rateLimit.perKey),
    perUser: createRateLimit('user', rateLimit.perKey),
    perAddress: createRateLimit('address', rateLimit.perAddress),
    replays: createRateLimit('replays', replaysPerMinute),
    tests: createRateLimit('tests', testsPerMinute),
  };
}

/** Limits requests by IP address, for endpoints without API credentials. Put CORS first, so that pages can read the 429. */
export function limitByIp({ rateLimits }: { rateLimits: RateLimits }): Middleware {
  return async (ctx, next) => {
    await rateLimits.perAddress.count(ctx, clientIp(ctx));
    await next();
  };
}

/**
 * Creates a rate limit.
 *
 * @param name its name in headers.
 * @param points requests a minute; 0 for no limit.
 * @param maxKeys how many keys it counts at once.
 */
export function createRateLimit(name: string, points: number, maxKeys = defaultMaxKeys): RateLimit {
  if (points === 0) return unlimited;
  const limiter = new RateLimiterMemory({ points, duration: windowSeconds });
  const counted = new LRUCache<string, true>({
    ...atMost(maxKeys),
    dispose: (_value, key, reason) => {
      if (reason === 'evict') void limiter.delete(key);
    },
  });
  return {
    async count(ctx, key) {
      counted.set(key, true);
      const result = await limiter.consume(key).catch(stateOf);
      const seconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
      ctx.set(policyHeader, `"${name}";q=${points};w=${windowSeconds}`);
      ctx.set(stateHeader, `"${name}";r=${result.remainingPoints};t=${seconds}`);
      if (result.consumedPoints > points) throw tooMany('Too many requests', seconds);
    },
    async uncount(ctx, key) {
      await limiter.reward(key);
      ctx.remove(policyHeader);
      ctx.remove(stateHeader);
    },
  };
}

const unlimited: RateLimit = { count: () => Promise.resolve(), uncount: () => Promise.resolve() };

/** Returns the state of a key over its limit, which is the reason of the library's rejection. */
function stateOf(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}
