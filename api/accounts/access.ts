import type { Context, Middleware } from 'koa';
import { parseBearer } from '../../shared/accounts/credentials.ts';
import { keyScopeNames, missingPermissionText, missingScopeText } from '../../shared/accounts/permissions.ts';
import type { Permission } from '../../shared/accounts/permissions.ts';
import { authenticate } from '../../shared/models/api-key.ts';
import type { CredentialsFault, KeyLimits } from '../../shared/models/api-key.ts';
import { installationLog } from '../../shared/models/audit-entry.ts';
import type { AuditActor } from '../../shared/models/audit-entry.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { auditedCaller } from '../http/audit.ts';
import { clientAddress, clientIp } from '../http/client-ip.ts';
import { requestValue } from '../http/context.ts';
import type { Access, EndpointContext, ScopedAccess } from '../http/endpoint.ts';
import { forUsers } from '../http/headers.ts';
import { noStore } from '../http/middleware/response-headers.ts';
import { limitByIp, tooManyRequests } from '../http/middleware/rate-limit.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { addToRequestLine } from '../http/middleware/request-context.ts';
import { sessionCors } from '../http/middleware/cors.ts';
import { csrfProtection, requireSameSite } from '../http/middleware/csrf.ts';
import { failure } from '../http/responses.ts';
import { permissionsOf } from './two-step.ts';
import { UserSessions } from './user-sessions.ts';
import type { OpenSession, SessionDependencies } from './user-sessions.ts';

/** A caller of an organization's endpoints: an API key or a user. */
export interface ApiCaller {
  /** The public key, or the user's id. */
  id: string;
  organization: Organization;
  permissions: readonly Permission[];
  /** Undefined for API keys. */
  userId?: string;
  /** Of an API key: keys that it makes must not escape them. */
  limits: KeyLimits | null;
}

/** Set for every caller with valid credentials or a session. */
const caller = requestValue<{
  id: string;
  organization: Organization | null;
  permissions: readonly Permission[];
  /** Undefined for API credentials. */
  session?: OpenSession;
  limits: KeyLimits | null;
}>('caller');

function setCaller(ctx: Context, value: Omit<ReturnType<typeof caller.get>, 'id'>, actor: AuditActor): void {
  const organization = value.organization?._id;
  caller.set(ctx, { id: actor.id, ...value });
  addToRequestLine(ctx, {
    ...(organization !== undefined && { organization }),
    ...(value.session && { user: actor.id }),
  });
  auditedCaller.set(ctx, { organizationId: organization ?? installationLog, actor });
}

/** The text of every 401; only the header `WWW-Authenticate` distinguishes the causes. */
export const notAuthenticatedText = 'Authentication failed';

const rejected =
  'The credentials are missing, malformed, unknown, revoked or expired, or not valid from this IP address. Or the ' +
  'organization is suspended. Or there is no session.';

function requireScope(ctx: EndpointContext, scope: Permission): void {
  const { permissions, session } = caller.get(ctx);
  if (permissions.includes(scope)) return;
  throw new LecternError('FORBIDDEN', session ? missingPermissionText(scope) : missingScopeText(scope));
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
 * Returns access to an organization's data for servers with API credentials and for users with a session. A request with
 * an Authorization header is a server's: its session is ignored.
 *
 * @param message the text of every 401.
 */
function createApiAccess(
  message: string,
): ScopedAccess<CredentialsDependencies & SessionAccessDependencies, ApiCaller> {
  return {
    security: [{ credentials: [] }, { session: [] }],
    headers: forUsers,
    preflight: false,
    failures: { 401: failure(rejected, message), 429: tooManyRequests },
    middleware: (deps, methods) => {
      const asServer = authenticateBearer(deps, message);
      const asUser = authenticateSession(deps, message);
      return [
        noStore,
        sessionCors(deps.config, methods),
        (ctx, next) =>
          (ctx.headers.authorization === undefined ? asUser : asServer)(ctx, next) as Promise<void>,
      ];
    },
    identify: (_deps, { ctx }) => {
      const { id, organization, permissions, session, limits } = caller.get(ctx);
      // Operators have no organization, and none of the scopes that these endpoints need.
      if (organization === null) throw new Error('a caller without an organization has a scope');
      return { id, organization, permissions, limits, ...(session && { userId: session.user._id }) };
    },
    requireScope,
  };
}

export const apiAccess = createApiAccess(notAuthenticatedText);

/** Access of the endpoints of exports, whose 401 has another text. */
export const exportAccess = createApiAccess('User authentication is required');

/** Access for users with a session only, operators included. */
export const sessionAccess: ScopedAccess<SessionAccessDependencies, OpenSession> = {
  security: [{ session: [] }],
  headers: forUsers,
  preflight: false,
  failures: {
    401: failure('There is no session, or it has ended.', notAuthenticatedText),
    429: tooManyRequests,
  },
  middleware: (deps, methods) => [
    noStore,
    sessionCors(deps.config, methods),
    authenticateSession(deps, notAuthenticatedText),
  ],
  identify: (_deps, { ctx }) => {
    const { session } = caller.get(ctx);
    if (session === undefined) throw new Error('a caller without a session is identified by it');
    return session;
  },
  requireScope,
};

/** Access for visitors who log in, from pages of the allowed origins, with a rate limit and CSRF protection. */
export const visitorAccess: Access<
  { config: Pick<Config, 'allowedOrigins' | 'publicUrl'>; rateLimits: RateLimits },
  null
> = {
  security: [],
  headers: forUsers,
  preflight: false,
  failures: { 429: tooManyRequests },
  middleware: (deps, methods) => [
    noStore,
    sessionCors(deps.config, methods),
    limitByIp(deps),
    csrfProtection(deps.config),
  ],
  identify: () => null,
};

/* Reasons in `WWW-Authenticate` for rejected credentials; the body is the same for all. */
const malformed = 'The credentials must have the form PUBLIC_KEY.SECRET_KEY';
const faults: Record<CredentialsFault, string> = {
  unknown: 'The public key is unknown or the secret key is wrong',
  revoked: 'The credentials were revoked',
  expired: 'The credentials have expired',
  otherAddress: 'The credentials are not valid from this IP address',
  suspended: 'The operator has suspended the organization',
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
    const { organization, scopes, limits } = authentication;
    const permissions = scopes ?? keyScopeNames;
    setCaller(ctx, { organization, permissions, limits }, { type: 'key', id: given.publicKey });
    await next();
  };
}

function authenticateSession(deps: SessionAccessDependencies, message: string): Middleware {
  const sessions = new UserSessions(deps);
  const { perAddress, perUser } = deps.rateLimits;
  return async (ctx, next) => {
    const ip = clientIp(ctx);
    await perAddress.count(ctx, ip);
    const session = await requireSession(sessions, ctx, message);
    const { user, organization } = session;
    await perAddress.uncount(ctx, ip);
    await perUser.count(ctx, user._id);
    requireSameSite(ctx, deps.config);
    const permissions = permissionsOf(user, deps.config);
    setCaller(ctx, { organization, permissions, session, limits: null }, { type: 'user', id: user._id });
    await next();
  };
}

/** Returns the session of a request. @throws {LecternError} UNAUTHORIZED if it has none. */
export async function requireSession(
  sessions: UserSessions,
  ctx: Pick<Context, 'cookies'>,
  message = notAuthenticatedText,
): Promise<OpenSession> {
  const open = await sessions.find(ctx);
  if (open === null) throw new LecternError('UNAUTHORIZED', message);
  return open;
}
