import type { Middleware } from 'koa';
import { withoutContentSignature } from '../../shared/content-addresses.ts';
import type { Logger } from '../../shared/log.ts';
import { pathOf } from './readable-path.ts';

/** Logs each request once, at its end, without its query and without a signature in its path: they are secret. */
export function logRequests(log: Logger): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    const requestLog = log.child({ request: ctx.state.requestId as string });
    ctx.state.log = requestLog;
    const path = pathOf(ctx);
    ctx.res.once('close', () => {
      const fields = {
        method: ctx.method,
        path: path && withoutContentSignature(path),
        status: ctx.res.writableFinished ? ctx.status : 499,
        milliseconds: Math.round(performance.now() - started),
      };
      if (path?.startsWith('/health/')) requestLog.debug(fields, 'request');
      else requestLog.info(fields, 'request');
    });
    await next();
  };
}
