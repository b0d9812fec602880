import type { Context, Middleware } from 'koa';
import { parseBearer } from '../../shared/accounts/credentials.ts';
import { hasScope, missingScopeText } from '../../shared/accounts/key-scopes.ts';
import type { KeyScope } from '../../shared/accounts/key-scopes.ts';
import type { AuditActor } from '../../shared/models/audit-entry.ts';
import { authenticate } from '../../shared/models/api-key.ts';
import type { Authenticated, CredentialsFault } from '../../shared/models/api-key.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { User } from '../../shared/models/user.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { auditedCaller } from '../http/audit.ts';
import { clientAddress, clientIp } from '../http/client-ip.ts';
import { requestValue } from '../http/context.ts';
import type { Access, EndpointContext, KeyAccess } from '../http/endpoint.ts';
import { forUsers, limited } from '../http/headers.ts';
import { noStore } from '../http/middleware/response-headers.ts';
import { limitByIp, tooManyRequests } from '../http/middleware/rate-limit.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { addToRequestLine } from '../http/middleware/request-context.ts';
import { sessionCors } from '../http/middleware/cors.ts';
import { failure } from '../http/responses.ts';
import { UserSessions } from './user-sessions.ts';
import type { OpenSession, SessionDependencies } from './user-sessions.ts';

const organization = requestValue<Organization>('organization');
const user = requestValue<User>('user');
/** Set for API credentials only: a user's session has no scopes. */
const apiKey = requestValue<ApiCaller>('API key');

function setOrganization(ctx: Context, caller: Organization, actor: AuditActor): void {
  organization.set(ctx, caller);
  addToRequestLine(ctx, { organization: caller._id, ...(actor.type === 'user' && { user: actor.id }) });
  auditedCaller.set(ctx, { organizationId: caller._id, actor });
}

/** The text of every 401; only the header `WWW-Authenticate` distinguishes the causes. */
export const notAuthenticatedText = 'Authentication failed';

const rejected =
  'The credentials are missing, malformed, unknown, revoked or expired, or not valid from this IP address.';

/** A caller with API credentials. */
export type ApiCaller = Authenticated;

function requireScope(ctx: EndpointContext, scope: KeyScope): void {
  const key = apiKey.find(ctx);
  if (key === undefined || hasScope(key.scopes, scope)) return;
  throw new LecternError('FORBIDDEN', missingScopeText(scope));
}

export interface CredentialsDependencies {
  db: Database;
  secrets: Pick<Secrets, 'keyPepper'>;
  rateLimits: RateLimits;
}

export type SessionAccessDependencies = SessionDependencies & {
  config: Pick<Config, 'allowedOrigins'>;
  rateLimits: RateLimits;
};

/**
 * Returns access for servers with API credentials, within the rate limit of their key. Other requests count against the
 * limit of their IP address.
 *
 * @param message the text of every 401.
 */
export function credentials(message = notAuthenticatedText): KeyAccess<CredentialsDependencies, ApiCaller> {
  return {
    security: [{ credentials: [] }],
    headers: limited,
    preflight: false,
    failures: {
      401: failure(rejected, message),
      429: tooManyRequests,
    },
    middleware: (deps) => [authenticateBearer(deps, message)],
    identify: (_deps, { ctx }) => apiKey.get(ctx),
    requireScope,
  };
}

/** Returns access for users with a session, including pages of allowed origins. @param methods for CORS: "GET". */
export function userSession(
  methods: string,
): Access<SessionAccessDependencies, { organization: Organization; user: User }> {
  return {
    security: [{ session: [] }],
    headers: forUsers,
    preflight: false,
    failures: {
      401: failure('There is no session, or it has ended.', notAuthenticatedText),
      429: tooManyRequests,
    },
    middleware: (deps) => [noStore, sessionCors(deps.config, methods), authenticateSession(deps)],
    identify: (_deps, { ctx }) => ({ organization: organization.get(ctx), user: user.get(ctx) }),
  };
}

/** Returns access with credentials or a session. If a request has an Authorization header, its session is ignored. */
export function credentialsOrSession(
  methods: string,
): KeyAccess<CredentialsDependencies & SessionAccessDependencies, { organization: Organization }> {
  return {
    security: [{ credentials: [] }, { session: [] }],
    headers: forUsers,
    preflight: false,
    failures: {
      401: failure(`${rejected} Or there is no session.`, notAuthenticatedText),
      429: tooManyRequests,
    },
    middleware: (deps) => {
      const asIntegrator = authenticateBearer(deps, notAuthenticatedText);
      const asUser = authenticateSession(deps);
      return [
        noStore,
        sessionCors(deps.config, methods),
        (ctx, next) =>
          (ctx.headers.authorization === undefined ? asUser : asIntegrator)(ctx, next) as Promise<void>,
      ];
    },
    identify: (_deps, { ctx }) => ({ organization: organization.get(ctx) }),
    requireScope,
  };
}

/* Reasons in `WWW-Authenticate` for rejected credentials; the body is the same for all. */
const malformed = 'The credentials must have the form PUBLIC_KEY.SECRET_KEY';
const faults: Record<CredentialsFault, string> = {
  unknown: 'The public key is unknown or the secret key is wrong',
  revoked: 'The credentials were revoked',
  expired: 'The credentials have expired',
  otherAddress: 'The credentials are not valid from this IP address',
};

function authenticateBearer(
  { db, secrets, rateLimits }: CredentialsDependencies,
  message: string,
): Middleware {
  return async (ctx, next) => {
    const ip = clientIp(ctx);
    // Counted before the lookup and refunded on success, so that concurrent guesses cannot exceed the limit.
    await rateLimits.perAddress.count(ctx, ip);
    const header = ctx.get('Authorization');
    const given = parseBearer(header);
    if (given === null) {
      // Another scheme counts as no credentials (RFC 6750, section 3.1).
      const isBearer = /^Bearer(?: |$)/i.test(header);
      throw new LecternError('UNAUTHORIZED', message, isBearer ? { invalidToken: malformed } : {});
    }
    addToRequestLine(ctx, { key: given.publicKey });
    const authentication = await authenticate(db, secrets.keyPepper, given, clientAddress(ctx) ?? '');
    if ('fault' in authentication) {
      throw new LecternError('UNAUTHORIZED', message, { invalidToken: faults[authentication.fault] });
    }
    await rateLimits.perAddress.uncount(ctx, ip);
    await rateLimits.perKey.count(ctx, given.publicKey);
    setOrganization(ctx, authentication.organization, { type: 'key', id: given.publicKey });
    apiKey.set(ctx, authentication);
    await next();
  };
}

function authenticateSession(deps: SessionDependencies & { rateLimits: RateLimits }): Middleware {
  const sessions = new UserSessions(deps);
  const limit = limitByIp(deps);
  return (ctx, next) =>
    limit(ctx, async () => {
      const session = await requireSession(sessions, ctx);
      user.set(ctx, session.user);
      setOrganization(ctx, session.organization, { type: 'user', id: session.user._id });
      await next();
    }) as Promise<void>;
}

/** Returns the session of a request. @throws {LecternError} UNAUTHORIZED if it has none. */
export async function requireSession(
  sessions: UserSessions,
  ctx: Pick<Context, 'cookies'>,
): Promise<OpenSession> {
  const open = await sessions.find(ctx);
  if (open === null) throw new LecternError('UNAUTHORIZED', notAuthenticatedText);
  return open;
}
