import type { Context, Middleware } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';

/** Returns the path of a request; null when its target is no URL, such as "http://[", for which Koa throws. */
export function pathOf(ctx: Pick<Context, 'path'>): string | null {
  try {
    return ctx.path;
  } catch {
    return null;
  }
}

/** Rejects requests whose target is no URL, so that `ctx.path` does not throw in later middleware. */
export const readablePath: Middleware = async (ctx, next) => {
  if (pathOf(ctx) === null) throw new LecternError('BAD_REQUEST', 'The address of the request is not valid');
  await next();
};
