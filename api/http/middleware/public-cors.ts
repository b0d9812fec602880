import type { Middleware } from 'koa';

/**
 * Answers pages of every origin, without credentials: for what a token or a signature authorizes, errors included.
 * Preflight requests (OPTIONS) are answered here.
 *
 * @param methods those that the address takes, such as "GET, OPTIONS".
 * @param headers those of a request that it heeds, besides the ones that need no permission.
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
