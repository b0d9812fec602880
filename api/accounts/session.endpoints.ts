import type { Redis } from 'ioredis';
import { z } from 'zod';
import { installationLog } from '../../shared/models/audit-entry.ts';
import type { AuditActor, AuditDetails } from '../../shared/models/audit-entry.ts';
import type { Database } from '../../shared/models/database.ts';
import { emailSchema, findAccount, recordLogIn, renewPasswordHash } from '../../shared/models/user.ts';
import type { Account } from '../../shared/models/user.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { hashPassword, isOutdated, passwordMatches } from '../../shared/platform/passwords.ts';
import { auditedCaller, auditedChange, auditRequest } from '../http/audit.ts';
import type { AuditDependencies } from '../http/audit.ts';
import { clientIp } from '../http/client-ip.ts';
import { defineEndpoint, parseRequest } from '../http/endpoint.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { crossSiteWrite } from '../http/middleware/csrf.ts';
import { empty, failure, json } from '../http/responses.ts';
import { notAuthenticatedText, requireSession, visitorAccess } from './access.ts';
import { KnownBrowsers } from './known-browsers.ts';
import { LogInThrottle, tooManyLogIns } from './log-in-throttle.ts';
import { presentSession, userSessionBody } from './present-session.ts';
import { isSuspended, UserSessions } from './user-sessions.ts';
import type { SessionDependencies } from './user-sessions.ts';
import { takeCode } from './two-step.ts';

const text = (name: string) =>
  z
    .string({
      error: ({ input }) => (input === undefined ? `${name} is required` : `${name} must be a string`),
    })
    .min(1, `${name} is required`);
const logInSchema = z.strictObject(
  {
    email: text('email'),
    password: text('password'),
    code: z
      .string('code must be a string')
      .max(50, 'code is too long')
      .optional()
      .meta({ description: 'Of the authenticator app, or a recovery code; if two-step login is on.' }),
  },
  'Request body must be an object with email and password',
);

const common = { path: '/api/session', access: visitorAccess, errors: apiErrors(), tag: 'Users' } as const;
const wrongLogIn = 'Email or password is wrong';
const codeRequiredText = 'A code of your authenticator app is required';
const wrongCodeText = 'The code is wrong, or was used before';
const suspendedText = 'Your organization is suspended. Ask the operator.';

/** POST /api/session */
export const logIn = defineEndpoint(
  {
    ...common,
    method: 'post',
    audit: 'session.begin',
    operationId: 'logIn',
    summary: 'Log in',
    description:
      'Begins a session. Administrators invite users; the operator creates them with `lectern user create`.',
    body: jsonBody({
      maxBytes: 8 * 1024,
      description: 'Unknown fields are rejected.',
      schema: logInSchema,
      parse: (body) => parseRequest(logInSchema, JSON.parse(body), 'INVALID_CONTENT'),
      examples: {
        author: { value: { email: example.userSession.user.email, password: example.password } },
      },
    }),
    responses: {
      200: json(
        'The session.',
        userSessionBody,
        { session: { value: example.userSession } },
        { 'Set-Cookie': z.string().meta({ description: 'The cookie of the session, and its signature.' }) },
      ),
      401: {
        ...failure(
          'There is no such user, the user is disabled, the password is wrong, or a code is missing or wrong.',
          wrongLogIn,
          codeRequiredText,
          wrongCodeText,
        ),
        codes: { [codeRequiredText]: 'CODE_REQUIRED' },
      },
      403: failure(
        'The organization is suspended, or a page of another site sends the request.',
        ...crossSiteWrite.texts,
        suspendedText,
      ),
      429: failure(
        'The limit of requests a minute is reached, that of logins in 15 minutes, or that of wrong codes in a day.',
        tooManyLogIns,
      ),
    },
  },
  (deps: SessionDependencies & AuditDependencies & { db: Database; redis: Redis }) => {
    const sessions = new UserSessions(deps);
    const throttle = new LogInThrottle(deps.redis, deps.config);
    const knownBrowsers = new KnownBrowsers(deps.config);
    return async ({ ctx, readBody }) => {
      const { email: given, password, code } = await readBody();
      const email = emailSchema.safeParse(given).data ?? null;
      const browser = knownBrowsers.find(ctx, email ?? given);
      const origin = { ip: clientIp(ctx), browser };
      await throttle.count(email ?? given, origin);
      const account = email === null ? null : await findAccount(deps.db, { email });
      const isAccepted = await isLogIn(deps.db, account, password, ctx.state.signal);
      const reject = async (reason: string) => {
        if (account !== null) setAudited(ctx, account, unauthenticated, { reason });
        // Does not wait for MongoDB, so that the response time does not reveal whether the user exists.
        await auditRequest(deps, ctx, 'session.reject', {}, false);
      };
      if (account === null || !isAccepted) {
        await reject('wrong_password');
        throw new LecternError('UNAUTHORIZED', wrongLogIn);
      }
      if (account.user.twoStep !== null) {
        if (code === undefined) {
          await throttle.refund(account.user.email, origin);
          await reject('code_required');
          throw new LecternError('CODE_REQUIRED', codeRequiredText);
        }
        await throttle.countCode(account.user.email, origin);
        if (!(await takeCode(deps, account.user, code))) {
          await reject('wrong_code');
          throw new LecternError('UNAUTHORIZED', wrongCodeText);
        }
        await throttle.refundCode(account.user.email, origin);
      }
      setAudited(ctx, account);
      await throttle.forgive(account.user.email, origin);
      if (isSuspended(account)) throw new LecternError('FORBIDDEN', suspendedText);
      const session = await sessions.begin(ctx, account);
      await recordLogIn(deps.db, account.user);
      knownBrowsers.remember(ctx, account.user.email, browser);
      return { status: 200, body: presentSession(session, deps.config) };
    };
  },
);

/** GET /api/session */
export const getSession = defineEndpoint(
  {
    ...common,
    method: 'get',
    security: [{ session: [] }],
    operationId: 'getSession',
    summary: 'Get the logged-in user',
    responses: {
      200: json('The session.', userSessionBody, { session: { value: example.userSession } }),
      401: failure('There is no session, or it has ended.', notAuthenticatedText),
    },
  },
  (deps: SessionDependencies) => {
    const sessions = new UserSessions(deps);
    return async ({ ctx }) => {
      const session = await requireSession(sessions, ctx);
      return { status: 200, body: presentSession(session, deps.config) };
    };
  },
);

/** DELETE /api/session */
export const logOut = defineEndpoint(
  {
    ...common,
    method: 'delete',
    audit: 'session.end',
    security: [{ session: [] }, {}],
    operationId: 'logOut',
    summary: 'Log out',
    description: 'Ends the session everywhere and at once. Without a session nothing happens.',
    responses: {
      204: empty('The session has ended.', {
        'Set-Cookie': z.string().meta({ description: 'Removes the cookie and its signature.' }),
      }),
      403: crossSiteWrite,
    },
  },
  (deps: SessionDependencies) => {
    const sessions = new UserSessions(deps);
    return async ({ ctx }) => {
      const open = await sessions.find(ctx);
      if (open !== null) setAudited(ctx, open);
      await sessions.end(ctx);
      return { status: 204 };
    };
  },
);

/** The actor of a rejected login, whose sender is unknown. */
const unauthenticated: AuditActor = { type: 'system', id: 'login' };

/** Names a user in the audit log as the target of a request, and by default as its actor. */
export function setAudited(
  ctx: EndpointContext,
  { organization, user: { _id: id } }: Account,
  actor: AuditActor = { type: 'user', id },
  details: AuditDetails = {},
): void {
  auditedCaller.set(ctx, { organizationId: organization?._id ?? installationLog, actor });
  auditedChange.set(ctx, { target: { type: 'user', id }, details });
}

/** Returns whether a password is right for an account. Without an account, it takes the same time. */
async function isLogIn(
  db: Database,
  account: Account | null,
  password: string,
  signal: AbortSignal,
): Promise<boolean> {
  const matches = await passwordMatches(password, account?.user.passwordHash ?? null, signal);
  if (!matches || account === null || account.user.disabledAt !== null) return false;
  const { passwordHash } = account.user;
  if (passwordHash !== null && isOutdated(passwordHash)) {
    await renewPasswordHash(db, account.user, await hashPassword(password));
  }
  return true;
}
