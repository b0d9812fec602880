import cors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Config } from '../../../shared/platform/config.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { failure } from '../responses.ts';
import { isCrossSiteWrite } from './csrf.ts';

/**
 * Answers pages of every origin, without credentials: for what a token or a signature authorizes, errors included.
 * Preflight requests (OPTIONS) are answered here.
 *
 * @param methods of the endpoint, such as "GET, OPTIONS".
 * @param headers that pages may send, besides those that need no permission.
 */
export function publicCors(methods: string, headers = 'Content-Type'): Middleware {
  return async (ctx, next) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Access-Control-Allow-Methods', methods);
    ctx.set('Access-Control-Allow-Headers', headers);
    if (ctx.method !== 'OPTIONS') {
      await next();
      return;
    }
    ctx.set('Allow', methods);
    ctx.status = 204;
  };
}

/** How long browsers may cache a preflight response, in seconds. */
const preflightSeconds = 600;

/**
 * Lets pages of the configured origins use a user's session: they may send the cookie and read the responses. Pages of
 * other origins get no CORS headers, so browsers keep the responses from them.
 *
 * @param methods of the endpoints, such as "GET".
 */
export function sessionCors({ allowedOrigins }: Pick<Config, 'allowedOrigins'>, methods: string): Middleware {
  return cors({
    origin: (ctx) => allowedOrigins.find((origin) => origin === ctx.get('Origin')) ?? '',
    credentials: true,
    allowMethods: methods,
    allowHeaders: 'Content-Type',
    maxAge: preflightSeconds,
    keepHeadersOnError: false,
  });
}

const crossSiteWriteText = 'Requests from other sites are refused';
export const crossSiteWrite = failure(
  'The request comes from a page of another site that the operator has not allowed.',
  crossSiteWriteText,
);

/** Refuses to change anything for pages of other sites, but for those of the configured origins. */
export function csrfProtection({
  publicUrl,
  allowedOrigins,
}: Pick<Config, 'publicUrl' | 'allowedOrigins'>): Middleware {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return async (ctx, next) => {
    if (isCrossSiteWrite(ctx, publicOrigin) && !allowedOrigins.includes(ctx.get('Origin'))) {
      throw new LecternError('FORBIDDEN', crossSiteWriteText);
    }
    await next();
  };
}
