import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';

/** Fits a header and a line of a log; anything else a client sends is replaced. */
const sane = /^[\w.:-]{1,128}$/;

/** Gives each request an id, the client's own where it is sane, and sends it back as `X-Request-Id`. */
export const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  ctx.state.requestId = sane.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId as string);
  await next();
};
