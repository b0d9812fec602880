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
  'Content-Security-Policy': z.string().meta({ description: 'What the page may load and do.' }),
};
const common: Headers = { ...limited, ...noStore, 'Referrer-Policy': z.literal('same-origin') };
const pageHeaders: Headers = { ...common, ...policy };
export const browserCookie: Headers = {
  'Set-Cookie': z.string().meta({ description: 'Identifies the browser when the launch follows.' }),
};

const content = { 'text/html': { schema: { type: 'string' } } } as const;

/** Admits browsers that come from a learning platform, within the rate limit of their IP address. */
export const browserAccess: Access<{ rateLimits: RateLimits }, null> = {
  security: [],
  // Each page and redirect lists all of its headers.
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

/** Renders errors as pages. @param send sends the page. */
export function pageErrors<Deps>(
  send: (deps: Deps, ...response: Parameters<Parameters<typeof respondToErrors>[0]>) => void,
): ErrorFormat<Deps> {
  return {
    unexpected: null,
    render: (deps) => respondToErrors((ctx, failure) => send(deps, ctx, failure)),
    content: () => content,
  };
}

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

/** Describes the pages of one status. Each shows its code. */
export function faultPage(codes: readonly string[], headers: Headers = {}): WrittenResponse {
  const list = codes.map((code) => `\`${code}\``).join(', ');
  return pageOf(`A page that says what to do, with its code: ${list}.`, headers);
}

/** @param codes by status, in addition to those of all endpoints. */
export function faultPages(codes: Record<number, readonly string[]>): Record<number, WrittenResponse> {
  return {
    ...Object.fromEntries(Object.entries(codes).map(([status, some]) => [status, faultPage(some)])),
    413: faultPage(['malformed_request']),
    422: faultPage(['malformed_request']),
    429: faultPage(['too_many_requests'], retryAfter),
    500: faultPage(['server_error']),
  };
}
