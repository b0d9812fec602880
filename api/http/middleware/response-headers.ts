import type { Middleware } from 'koa';
import type { Config } from '../../../shared/platform/config.ts';

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

/** Forbids caches to store responses, errors included: they belong to one caller. */
export const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};
