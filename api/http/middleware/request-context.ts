import type { Context } from 'koa';
import { redactContentSignature } from '../../../shared/media/content-urls.ts';
import type { Logger } from '../../../shared/platform/log.ts';
import type { ErrorCode } from '../../../shared/platform/errors.ts';
import { requestValue } from '../context.ts';
import type { StatefulMiddleware } from '../context.ts';
import { pathOf } from './request-target.ts';
import { randomUUID } from 'node:crypto';
import { onAbort } from '../../../shared/platform/abort-listeners.ts';

/** Request ids that are safe in a header and a log line; others are replaced. */
const safeId = /^[\w.:-]{1,128}$/;

/** Gives each request an id, the client's own if it is safe, and returns it as `X-Request-Id`. */
export const requestId: StatefulMiddleware = async (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  ctx.state.requestId = safeId.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  await next();
};

/** The logged status of a request whose client disconnected before the response; none is sent. */
export const clientGone = 499;

/** Fields of a request's log line: its sender, and the reason for a rejection. */
export interface RequestFacts {
  /** The id of the organization. */
  organization?: string;
  /** The public key of API credentials, also of rejected ones. */
  key?: string;
  /** The id of a user. */
  user?: string;
  /** The pseudonym of a learner, as in the audit log. */
  learner?: string;
  code?: ErrorCode;
  /** Why the response is 401, 403 or 429. */
  reason?: string;
}

const requestFacts = requestValue<RequestFacts>('facts');

/** Adds fields to the log line of a request. */
export function addToRequestLine(ctx: Pick<Context, 'req'>, facts: RequestFacts): void {
  requestFacts.set(ctx, { ...requestFacts.find(ctx), ...facts });
}

export interface RequestMetrics {
  /** @param response.bytes include the headers. */
  recordRequest(ctx: Context, response: { status: number; seconds: number; bytes: number }): void;
}

/** Logs and counts each request once, at its end. It omits secrets and ids of learners in URLs. */
export function logRequests(log: Logger, metrics: RequestMetrics): StatefulMiddleware {
  return async (ctx, next) => {
    const started = performance.now();
    const requestLog = log.child({ request: ctx.state.requestId });
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
        path: path && withoutLearner(withoutInvitation(redactContentSignature(path))),
        status,
        milliseconds: Math.round(milliseconds),
        ...requestFacts.find(ctx),
      };
      if (path?.startsWith('/health/')) requestLog.debug(fields, 'request');
      else requestLog.info(fields, 'request');
    });
    await next();
  };
}

/** Replaces the secret in the path of an LTI registration or of a selection of lessons. */
function withoutInvitation(path: string): string {
  return path.replace(/^(\/lti\/(?:register|select)\/).+/, '$1…');
}

/** Replaces the id of a learner in a path. Logs outlive erasures. */
function withoutLearner(path: string): string {
  return path.replace(/((?:lti-)?(?:learners|progress)\/+)[^/]+/gi, '$1…');
}

/** Created once, because each request ends with it, and recording an error's stack is slow. */
const disconnected = new Error('the client disconnected');

/**
 * Sets `ctx.state.signal`, which is aborted when the client disconnects or the process shuts down, so that handlers
 * stop working for it.
 *
 * @param stopping aborted at shutdown; its reason is the error that waiting clients get.
 */
export function clientSignal(stopping: AbortSignal): StatefulMiddleware {
  return async (ctx, next) => {
    const ending = new AbortController();
    ctx.state.signal = ending.signal;
    // AbortSignal.any would leak on Node 20: a signal of the whole process keeps data of all dependent signals.
    const stopListening = onAbort(stopping, () => ending.abort(stopping.reason));
    ctx.res.once('close', () => {
      stopListening();
      ending.abort(disconnected);
    });
    await next();
  };
}
