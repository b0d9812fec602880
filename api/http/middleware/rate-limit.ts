import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../../shared/platform/config.ts';
import { clientIp } from '../client-ip.ts';
import { failure } from '../responses.ts';
import { tooMany } from '../retry-after.ts';

const windowSeconds = 60;

/** Counts take about 0.8 KB each. Of more keys than this within a minute the oldest are forgotten. */
const mostKeys = 50_000;

const policyHeader = 'RateLimit-Policy';
const stateHeader = 'RateLimit';

/** How many requests a minute one key of some kind may make. The minute begins with the key's first request. */
export interface RateLimit {
  /**
   * Counts a request, and tells the client what is left (draft-ietf-httpapi-ratelimit-headers).
   *
   * @throws {LecternError} TOO_MANY_REQUESTS when none was left.
   */
  count(ctx: { set: (name: string, value: string) => void }, key: string): Promise<void>;
  /** Refunds a counted request and removes its response headers. */
  uncount(ctx: { remove: (name: string) => void }, key: string): Promise<void>;
}

/** The limits of one process; each process counts for itself (docs/decisions/0008). */
export interface RateLimits {
  /** Requests with good API credentials, by public key. */
  perKey: RateLimit;
  /** All others, by `clientIp`. */
  perAddress: RateLimit;
}

/** The failure of every endpoint whose requests are counted. */
export const tooManyRequests = failure(
  'The limit of requests a minute is reached.',
  'Too many requests; try again in 42 seconds',
);

export function createRateLimits({ rateLimit }: Pick<Config, 'rateLimit'>): RateLimits {
  return {
    perKey: createRateLimit('key', rateLimit.perKey),
    perAddress: createRateLimit('address', rateLimit.perAddress),
  };
}

/**
 * For what asks for no API credentials. It stands behind `publicCors`, so that pages can read its 429, and behind what
 * renders errors.
 */
export function limitByIp({ rateLimits }: { rateLimits: RateLimits }): Middleware {
  return async (ctx, next) => {
    ctx.set('Access-Control-Expose-Headers', ['Retry-After', stateHeader, policyHeader].join(', '));
    await rateLimits.perAddress.count(ctx, clientIp(ctx));
    await next();
  };
}

/**
 * @param name what the limit is called in headers.
 * @param points requests a minute; 0 for no limit.
 * @param keys how many keys are counted at once.
 */
export function createRateLimit(name: string, points: number, keys = mostKeys): RateLimit {
  if (points === 0) return unlimited;
  const limiter = new RateLimiterMemory({ points, duration: windowSeconds });
  const counted = new LRUCache<string, true>({
    max: keys,
    dispose: (_value, key, reason) => {
      if (reason === 'evict') void limiter.delete(key);
    },
  });
  return {
    async count(ctx, key) {
      counted.set(key, true);
      const result = await limiter.consume(key).catch(refusal);
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

/** The library rejects with the state of a key that has no points left. */
function refusal(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}
