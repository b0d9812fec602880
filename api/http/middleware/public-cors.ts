import type { Middleware } from 'koa';

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
