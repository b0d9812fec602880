import type { Middleware } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';

/** For the methods that a known path does not take. @param allowed those that it takes, such as "GET, HEAD". */
export function methodNotAllowed(allowed: string): Middleware {
  return (ctx) => {
    ctx.set('Allow', allowed);
    throw new LecternError('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here`);
  };
}
