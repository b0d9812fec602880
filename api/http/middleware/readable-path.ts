import type { Context, Middleware } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';

/** The path of a request, or null where its target is no address, such as "http://[": asking Koa for it throws. */
export function pathOf(ctx: Pick<Context, 'path'>): string | null {
  try {
    return ctx.path;
  } catch {
    return null;
  }
}

/** Refuses a request whose target is no address; behind it `ctx.path` can be relied on. */
export const readablePath: Middleware = async (ctx, next) => {
  if (pathOf(ctx) === null) throw new LecternError('BAD_REQUEST', 'The address of the request is not valid');
  await next();
};
