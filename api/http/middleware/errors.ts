import { HttpError } from 'koa';
import type { Context, Middleware } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';
import type { Logger } from '../../../shared/platform/log.ts';
import { presentError, presentExportError } from '../present-error.ts';
import { mayPass, retryAfterSeconds } from '../retry-after.ts';

/** How a part of the API words its errors. */
export interface ErrorShape {
  body: (error: LecternError, message: string) => object;
  /** What a caller is told of a failure that is none of its business. */
  unexpected: string;
}

export const shapeA = shapeAWith('An unexpected error occurred');

/** Shape A, for endpoints with a text of their own for what is none of a caller's business. */
export function shapeAWith(unexpected: string): ErrorShape {
  return { body: (_error, message) => presentError(message), unexpected };
}

export const shapeB: ErrorShape = {
  body: (error, message) => presentExportError(error.code, message),
  unexpected: 'An unexpected error occurred while generating the export',
};

/** Renders whatever is thrown behind it. It renders or rethrows, and never returns an error as an answer. */
export function renderErrors(shape: ErrorShape): Middleware {
  return answerErrors((ctx, failure) => {
    ctx.body = shape.body(
      failure,
      failure.expose ? failure.message : (failure.publicMessage ?? shape.unexpected),
    );
  });
}

/** As above, for what is no API: status and headers are set as everywhere, and the body is `respond`'s to set. */
export function answerErrors(respond: (ctx: Context, failure: LecternError) => void): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const log = ctx.state.log as Logger;
      if (ctx.res.closed) {
        log.debug({ err: error }, 'the client went away');
        return;
      }
      const failure = toLecternError(error);
      if (!failure.expose) log.error({ err: failure }, 'request failed');
      setFailureHeaders(ctx, failure);
      respond(ctx, failure);
    }
  };
}

function setFailureHeaders(ctx: Context, failure: LecternError): void {
  ctx.status = failure.status;
  ctx.remove('Content-Disposition');
  ctx.remove('ETag');
  // The rest of the body is not read.
  if (failure.status === 408) ctx.set('Connection', 'close');
  if (failure.status === 401) ctx.set('WWW-Authenticate', challengeOf(failure));
  if (failure.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(failure.retryAfterSeconds));
}

/** The challenge of a 401 (RFC 6750, section 3): without an error for a request that has no credentials. */
function challengeOf({ invalidToken }: LecternError): string {
  const challenge = 'Bearer realm="Lectern"';
  if (invalidToken === undefined) return challenge;
  return `${challenge}, error="invalid_token", error_description="${invalidToken}"`;
}

function toLecternError(error: unknown): LecternError {
  if (error instanceof LecternError) return error;
  if (isFaultOfRequest(error)) return new LecternError('BAD_REQUEST', error.message);
  return new LecternError('INTERNAL_ERROR', 'unexpected', {
    cause: error,
    ...(mayPass(error) && { retryAfterSeconds }),
  });
}

/** A library's own word on the request, such as a body that is too large or (a SyntaxError) no JSON. */
function isFaultOfRequest(error: unknown): error is Error {
  return (
    (error instanceof HttpError && error.expose) ||
    (error instanceof SyntaxError && 'status' in error && error.status === 400)
  );
}
