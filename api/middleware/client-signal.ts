import type { Middleware } from 'koa';

/** Gives handlers a signal that is aborted when the client is gone, so that nothing waits for nobody. */
export const clientSignal: Middleware = async (ctx, next) => {
  const gone = new AbortController();
  ctx.state.signal = gone.signal;
  ctx.res.once('close', () => gone.abort(new Error('the client is gone')));
  await next();
};
