import type { Middleware } from 'koa';
import type { AppDependencies } from '../../dependencies.ts';
import { bearer } from './bearer.ts';
import { session } from './session.ts';

/**
 * Lets in integrators with API credentials and users with a session. An Authorization header decides alone: a cookie
 * does not make bad credentials good.
 */
export function bearerOrSession(
  deps: Pick<AppDependencies, 'config' | 'secrets' | 'redis' | 'db' | 'rateLimits'>,
): Middleware {
  const asIntegrator = bearer(deps, 'Authentication failed');
  const asUser = session(deps);
  return async (ctx, next) => {
    await (ctx.headers.authorization === undefined ? asUser(ctx, next) : asIntegrator(ctx, next));
  };
}
