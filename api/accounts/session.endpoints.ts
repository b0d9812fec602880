import type Router from '@koa/router';
import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { emailSchema, findAccount, renewPasswordHash } from '../../shared/models/user.ts';
import type { Account } from '../../shared/models/user.ts';
import { hashPassword, isOutdated, passwordMatches } from '../../shared/platform/passwords.ts';
import { clientAddress } from '../http/client-ip.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { renderErrors, shapeA } from '../http/middleware/errors.ts';
import { readJsonBody } from '../http/middleware/json-body.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { noStore } from '../http/middleware/no-store.ts';
import { refuseForeignWrites, sessionOrigins } from '../http/middleware/session-cors.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import { requireSession } from '../http/middleware/session.ts';
import { parseRequest } from '../http/parse-request.ts';
import { presentSession } from './present-session.ts';
import { LogInThrottle } from './log-in-throttle.ts';
import { UserSessions } from './user-sessions.ts';
import { createRouter } from '../http/router.ts';

const maxBytes = 8 * 1024;

const text = (name: string) =>
  z
    .string({
      error: ({ input }) => (input === undefined ? `${name} is required` : `${name} must be a string`),
    })
    .min(1, `${name} is required`);
export const logInSchema = z.strictObject(
  { email: text('email'), password: text('password') },
  'Request body must be an object with email and password',
);

/** Logging in and out, for users: the session is one resource, and the cookie names it. */
export function sessionRoutes(deps: AppDependencies): Router<RequestState> {
  const sessions = new UserSessions(deps);
  const throttle = new LogInThrottle(deps.redis, deps.config);
  const router = createRouter('/api/session');
  router.use(renderErrors(shapeA));
  router.use(noStore);
  router.use(sessionOrigins(deps.config, 'GET, POST, DELETE'));
  router.use(limitByAddress(deps));
  router.use(refuseForeignWrites(deps.config));

  router.post('/', async (ctx) => {
    const body: unknown = JSON.parse(await readJsonBody(ctx, { maxBytes }));
    const { email: given, password } = parseRequest(logInSchema, body, 'INVALID_CONTENT');
    const email = emailSchema.safeParse(given).data ?? null;
    const address = clientAddress(ctx);
    await throttle.count(email ?? given, address);
    const account = await logIn(deps.db, email, password, ctx.state.signal);
    if (account === null) throw new LecternError('UNAUTHORIZED', 'Email or password is wrong');
    await throttle.forgive(account.user.email, address);
    ctx.body = presentSession(await sessions.begin(ctx, account));
  });

  router.get('/', async (ctx) => {
    ctx.body = presentSession(await requireSession(sessions, ctx));
  });

  router.delete('/', async (ctx) => {
    await sessions.end(ctx);
    ctx.status = 204;
  });

  router.all('/', methodNotAllowed('GET, HEAD, POST, DELETE'));
  return router;
}

/**
 * The account that an address and a password open; null for whatever is wrong, after the same time.
 *
 * @param email null for a text that is no address.
 */
async function logIn(
  db: AppDependencies['db'],
  email: string | null,
  password: string,
  signal: AbortSignal,
): Promise<Account | null> {
  const account = email === null ? null : await findAccount(db, { email });
  const stored = account?.user.passwordHash ?? null;
  const matches = await passwordMatches(password, stored, signal);
  if (!matches || account === null || account.user.disabledAt !== null) return null;
  if (isOutdated(account.user.passwordHash)) {
    await renewPasswordHash(db, account.user, await hashPassword(password));
  }
  return account;
}
