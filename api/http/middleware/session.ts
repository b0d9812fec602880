import type { Context, Middleware } from 'koa';
import { LecternError } from '../../../shared/platform/errors.ts';
import type { AppDependencies } from '../../dependencies.ts';
import { UserSessions } from '../../accounts/user-sessions.ts';
import type { OpenSession } from '../../accounts/user-sessions.ts';
import { limitByAddress } from './rate-limit.ts';

/**
 * Lets in whoever has a session, as its user and the user's organization. All others are told the same, whatever is
 * wrong with theirs.
 */
export function session(deps: Pick<AppDependencies, 'config' | 'redis' | 'db' | 'rateLimits'>): Middleware {
  const sessions = new UserSessions(deps);
  const limit = limitByAddress(deps);
  return (ctx, next) =>
    limit(ctx, async () => {
      const { user, organization } = await requireSession(sessions, ctx);
      ctx.state.user = user;
      ctx.state.organization = organization;
      await next();
    }) as Promise<void>;
}

/** @throws {LecternError} UNAUTHORIZED when the request carries no session. */
export async function requireSession(
  sessions: UserSessions,
  ctx: Pick<Context, 'cookies'>,
): Promise<OpenSession> {
  const open = await sessions.find(ctx);
  if (open === null) throw new LecternError('UNAUTHORIZED', 'Authentication failed');
  return open;
}
