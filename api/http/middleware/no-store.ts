import type { Middleware } from 'koa';

/** Forbids caches to store responses, errors included. For responses that belong to one caller. */
export const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};
