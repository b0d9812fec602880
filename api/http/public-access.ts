import type { Access } from './endpoint.ts';
import { anyOrigin, limited, requestId } from './headers.ts';
import type { Headers } from './headers.ts';
import { limitByIp, tooManyRequests } from './middleware/rate-limit.ts';
import type { RateLimits } from './middleware/rate-limit.ts';
import { publicCors } from './middleware/cors.ts';

/** Access for every client, within the rate limit of its IP address. */
export const limitedAccess: Access<{ rateLimits: RateLimits }, null> = {
  security: [],
  headers: limited,
  preflight: false,
  failures: { 429: tooManyRequests },
  middleware: (deps) => [limitByIp(deps)],
  identify: () => null,
};

/** Access for every client, without a rate limit: for cheap responses. */
export const openAccess: Access<object, null> = {
  security: [],
  headers: requestId,
  preflight: false,
  failures: {},
  middleware: () => [],
  identify: () => null,
};

/** Returns access for every client, including pages of every origin. @param methods for CORS: "GET, OPTIONS". */
export function publicAccess(methods: string): Access<{ rateLimits: RateLimits }, null> {
  return {
    ...limitedAccess,
    headers: { ...limited, ...anyOrigin(methods) },
    preflight: true,
    middleware: (deps) => [publicCors(methods), limitByIp(deps)],
  };
}

/**
 * Returns the same access without a rate limit.
 *
 * @param requestHeaders the request headers that pages may send.
 * @param headers documented headers, besides those of CORS.
 */
export function openPublicAccess(
  methods: string,
  requestHeaders?: string,
  headers: Headers = {},
): Access<object, null> {
  return {
    ...openAccess,
    headers: { ...requestId, ...anyOrigin(methods), ...headers },
    preflight: true,
    middleware: () => [publicCors(methods, requestHeaders)],
  };
}
