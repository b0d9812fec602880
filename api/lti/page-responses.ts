import type { Middleware } from 'koa';
import { z } from 'zod';
import type { Access } from '../http/endpoint.ts';
import type { ErrorFormat } from '../http/error-format.ts';
import { limited, noStore, retryAfter } from '../http/headers.ts';
import type { Headers } from '../http/headers.ts';
import { respondToErrors } from '../http/middleware/errors.ts';
import { limitByIp } from '../http/middleware/rate-limit.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import type { WrittenResponse } from '../http/responses.ts';
import { setNoticeHeaders } from './notice-page.ts';

export const policy: Headers = {
  'Content-Security-Policy': z.string().meta({ description: 'What the page may do.' }),
};
const common: Headers = { ...limited, ...noStore, 'Referrer-Policy': z.literal('same-origin') };
const pageHeaders: Headers = { ...common, ...policy };
export const browserCookie: Headers = {
  'Set-Cookie': z.string().meta({ description: 'By which the browser is known when the launch comes.' }),
};

const content = { 'text/html': { schema: { type: 'string' } } } as const;

/** Browsers that come from a learning platform, within the rate limit of their IP address. */
export const browserAccess: Access<{ rateLimits: RateLimits }, null> = {
  security: [],
  // Each page and redirect states all of its headers.
  headers: {},
  preflight: false,
  failures: {},
  middleware: (deps) => [noticeHeaders, limitByIp(deps)],
  identify: () => null,
};

const noticeHeaders: Middleware = (ctx, next) => {
  setNoticeHeaders(ctx);
  return next();
};

/** Returns the format of errors that are shown on a page. @param send sends the page. */
export function pageErrors<Deps>(
  send: (deps: Deps, ...response: Parameters<Parameters<typeof respondToErrors>[0]>) => void,
): ErrorFormat<Deps> {
  return {
    unexpected: null,
    render: (deps) => respondToErrors((ctx, failure) => send(deps, ctx, failure)),
    content: () => content,
  };
}

/** A page for browsers that come from a platform. */
export function pageOf(description: string, headers: Headers = {}): WrittenResponse {
  return { kind: 'written', description, headers: { ...pageHeaders, ...headers }, content };
}

export function redirectTo(description: string, headers: Headers = {}): WrittenResponse {
  return {
    kind: 'written',
    description,
    headers: { ...common, Location: z.string(), ...headers },
    content: {},
  };
}

/** The page of a fault shows its code; several codes may have one status. */
export function faultPage(codes: readonly string[], headers: Headers = {}): WrittenResponse {
  const list = codes.map((code) => `\`${code}\``).join(', ');
  return pageOf(`A page that says what to do, with its code: ${list}.`, headers);
}

/** @param codes by status, beyond those that every page has. */
export function faultPages(codes: Record<number, readonly string[]>): Record<number, WrittenResponse> {
  return {
    ...Object.fromEntries(Object.entries(codes).map(([status, some]) => [status, faultPage(some)])),
    413: faultPage(['malformed_request']),
    422: faultPage(['malformed_request']),
    429: faultPage(['too_many_requests'], retryAfter),
    500: faultPage(['server_error']),
  };
}
