import type { Context, Middleware } from 'koa';
import { redactContentSignature } from '../../../shared/media/content-urls.ts';
import type { Logger } from '../../../shared/platform/log.ts';
import { pathOf } from './request-target.ts';
import { randomUUID } from 'node:crypto';

/** Fits a header and a line of a log; anything else a client sends is replaced. */
const sane = /^[\w.:-]{1,128}$/;

/** Gives each request an id, the client's own where it is sane, and sends it back as `X-Request-Id`. */
export const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  ctx.state.requestId = sane.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId as string);
  await next();
};

/** The logged status of a request whose client disconnected before the response; none is sent. */
export const clientGone = 499;

/** Told of each request at its end. */
export interface RequestMetrics {
  recordRequest(ctx: Context, answer: { status: number; seconds: number; bytes: number }): void;
}

/** Logs and counts each request once, at its end, without the secrets in its URL: query, signature, invitation. */
export function logRequests(log: Logger, metrics: RequestMetrics): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    const requestLog = log.child({ request: ctx.state.requestId as string });
    ctx.state.log = requestLog;
    const path = pathOf(ctx);
    const { socket } = ctx.req;
    const writtenBefore = socket.bytesWritten;
    ctx.res.once('close', () => {
      const status = ctx.res.writableFinished ? ctx.status : clientGone;
      const milliseconds = performance.now() - started;
      const bytes = Math.max(0, socket.bytesWritten - writtenBefore);
      metrics.recordRequest(ctx, { status, seconds: milliseconds / 1000, bytes });
      const fields = {
        method: ctx.method,
        path: path && withoutInvitation(redactContentSignature(path)),
        status,
        milliseconds: Math.round(milliseconds),
      };
      if (path?.startsWith('/health/')) requestLog.debug(fields, 'request');
      else requestLog.info(fields, 'request');
    });
    await next();
  };
}

/** The path of a registration in a learning platform, or of a choice of lessons, without what lets in. */
function withoutInvitation(path: string): string {
  return path.replace(/^(\/lti\/(?:register|select)\/).+/, '$1…');
}
