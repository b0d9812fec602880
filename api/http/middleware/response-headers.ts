import type { Middleware } from 'koa';
import type { Config } from '../../../shared/platform/config.ts';
import { codeOfStatus } from '../../../shared/platform/errors.ts';
import { errorCodeHeader } from '../headers.ts';

const oneYear = 365 * 24 * 3600;

/** Sets the headers of every response: no MIME sniffing, and HSTS over HTTPS. */
export function securityHeaders({ publicUrl }: Pick<Config, 'publicUrl'>): Middleware {
  const https = publicUrl?.startsWith('https:') === true;
  return async (ctx, next) => {
    ctx.set('X-Content-Type-Options', 'nosniff');
    if (https) ctx.set('Strict-Transport-Security', `max-age=${oneYear}`);
    await next();
  };
}

/** Names the code of an error that nothing has thrown, such as a page with a form that needs correction. */
export const errorCodes: Middleware = async (ctx, next) => {
  await next();
  if (ctx.status >= 400 && !ctx.res.hasHeader(errorCodeHeader))
    ctx.set(errorCodeHeader, codeOfStatus(ctx.status));
};

/** Forbids caches to store responses, errors included: they belong to one caller. */
export const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};
