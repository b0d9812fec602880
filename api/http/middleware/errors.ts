import { HttpError } from 'koa';
import type { Context } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';
import type { StatefulMiddleware } from '../context.ts';
import { errorCodeHeader } from '../headers.ts';
import { addToRequestLine } from './request-context.ts';
import type { RequestFacts } from './request-context.ts';
import { isTemporary, retryAfterSeconds } from '../retry-after.ts';

/**
 * Returns middleware that turns every thrown error into a response, and never rethrows. It sets status and headers;
 * `respond` sets the body.
 */
export function respondToErrors(respond: (ctx: Context, failure: LecternError) => void): StatefulMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { log } = ctx.state;
      if (ctx.res.closed) {
        log.debug({ err: error }, 'the client disconnected');
        return;
      }
      const failure = toLecternError(error);
      if (!failure.expose) log.error({ err: failure }, 'request failed');
      addToRequestLine(ctx, reasonOf(failure));
      setFailureHeaders(ctx, failure);
      respond(ctx, failure);
    }
  };
}

/** Returns the error code, and the reason of a rejected caller: other messages may quote learners' data. */
function reasonOf({ code, status, invalidToken, message }: LecternError): RequestFacts {
  return [401, 403, 429].includes(status) ? { code, reason: invalidToken ?? message } : { code };
}

function setFailureHeaders(ctx: Context, failure: LecternError): void {
  ctx.status = failure.status;
  ctx.set(errorCodeHeader, failure.code);
  ctx.remove('Content-Disposition');
  ctx.remove('ETag');
  // The rest of the body stays unread.
  if (failure.status === 408) ctx.set('Connection', 'close');
  if (failure.status === 401) ctx.set('WWW-Authenticate', challengeOf(failure));
  if (failure.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(failure.retryAfterSeconds));
}

/** Returns the challenge of a 401 (RFC 6750, section 3). It has no error if the request has no credentials. */
function challengeOf({ invalidToken }: LecternError): string {
  const challenge = 'Bearer realm="Lectern"';
  if (invalidToken === undefined) return challenge;
  return `${challenge}, error="invalid_token", error_description="${invalidToken}"`;
}

function toLecternError(error: unknown): LecternError {
  if (error instanceof LecternError) return error;
  if (isRequestFault(error)) return new LecternError('BAD_REQUEST', error.message);
  return new LecternError('INTERNAL_ERROR', 'unexpected', {
    cause: error,
    ...(isTemporary(error) && { retryAfterSeconds }),
  });
}

/** Returns whether a library blames the request: its body is too large, or not JSON (a SyntaxError). */
function isRequestFault(error: unknown): error is Error {
  return (
    (error instanceof HttpError && error.expose) ||
    (error instanceof SyntaxError && 'status' in error && error.status === 400)
  );
}
