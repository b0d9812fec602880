import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Config } from '../../../shared/platform/config.ts';
import { exposedHeaders, exposedToUsers } from '../headers.ts';

/**
 * Lets pages of every origin read responses, errors included, without credentials: for endpoints that a token or a
 * signature authorizes. It also responds to preflight requests (OPTIONS).
 *
 * @param methods of the endpoint, such as "GET, OPTIONS".
 * @param headers request headers that pages may send, besides those that need no permission.
 */
export function publicCors(methods: string, headers = 'Content-Type'): Middleware {
  return async (ctx, next) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Access-Control-Allow-Methods', methods);
    ctx.set('Access-Control-Allow-Headers', headers);
    ctx.set('Access-Control-Expose-Headers', exposedHeaders);
    if (ctx.method !== 'OPTIONS') {
      await next();
      return;
    }
    ctx.set('Allow', methods);
    ctx.status = 204;
  };
}

/** The request headers that pages may send with a session. `Authorization` is not among them: credentials stay on servers. */
const requestHeaders = [
  ...['Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Range'],
  ...['Tus-Resumable', 'Upload-Length', 'Upload-Metadata', 'Upload-Offset'],
].join(', ');

/** How long browsers may cache a preflight response, in seconds. */
const preflightSeconds = 600;

/**
 * Lets pages of the configured origins use a user's session: they may send the cookie and read responses. Other origins
 * get no CORS headers, so browsers hide the responses from their pages.
 *
 * @param methods of the endpoints, such as "GET, HEAD".
 */
export function sessionCors({ allowedOrigins }: Pick<Config, 'allowedOrigins'>, methods: string): Middleware {
  return cors({
    origin: (ctx) => allowedOrigins.find((origin) => origin === ctx.get('Origin')) ?? '',
    credentials: true,
    allowMethods: methods,
    allowHeaders: requestHeaders,
    exposeHeaders: exposedToUsers,
    maxAge: preflightSeconds,
    keepHeadersOnError: false,
  });
}
