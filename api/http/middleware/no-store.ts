import type { Middleware } from 'koa';

/** For answers that belong to one caller, refusals included: nothing on their way may keep them. */
export const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};
