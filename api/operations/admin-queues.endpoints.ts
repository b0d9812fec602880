import { timingSafeEqual, createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../shared/platform/cache-size.ts';
import type { Middleware } from 'koa';
import { installationLog } from '../../shared/models/audit-entry.ts';
import type { AuditAction, AuditDetails } from '../../shared/models/audit-entry.ts';
import type { AuditLog } from '../../shared/audit/audit-log.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import { clientIp } from '../http/client-ip.ts';
import type { RequestContext, StatefulMiddleware } from '../http/context.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { crossSiteWriteText, isCrossSiteWrite } from '../http/middleware/csrf.ts';
import { addToRequestLine } from '../http/middleware/request-context.ts';
import { publicPath } from '../http/public-url.ts';
import { LogInThrottle } from '../accounts/log-in-throttle.ts';
import { permissionsOf } from '../accounts/two-step.ts';
import { UserSessions } from '../accounts/user-sessions.ts';

const basePath = '/admin/queues';

/** Bull Board loads fonts from Google. Lectern removes the link: system fonts suffice, and Google learns nothing. */
const foreignFonts = /<link href="https:\/\/fonts\.googleapis\.com\/[^>]*>/;

/** Bull Board's page needs only its own files, and no page may frame it. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Identifies the operator in the login throttle, where users have an email address. */
const operator = '';

interface Account {
  username: string;
  password: string;
}

interface BoardDependencies {
  config: Pick<Config, 'publicUrl' | 'redisPrefix' | 'session'>;
  redis: Redis;
  db: Database;
  rateLimits: RateLimits;
  audit: Pick<AuditLog, 'record' | 'recordNow'>;
}

/** Browsers send the credentials with every request. Those of one operator and IP address within an hour are one visit. */
const visitMs = 3600_000;
const maxVisitors = 10_000;

/**
 * Serves Bull Board, which shows the queue of exports, to operators with a session, and to whoever has the configured name and
 * password.
 *
 * @param account undefined if none is configured: without a session, the board then does not exist.
 */
export function adminQueues(
  account: Account | undefined,
  queue: ExportQueue,
  deps: BoardDependencies,
): StatefulMiddleware {
  const { config, redis, rateLimits, audit } = deps;
  const { publicUrl } = config;
  const sessions = new UserSessions(deps);
  const throttle = new LogInThrottle(redis, config);
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const visitors = new LRUCache<string, true>({ ...atMost(maxVisitors), ttl: visitMs });
  let board: Promise<Middleware> | undefined;

  /** Returns an entry for the log of the installation. */
  const entryOf = (ctx: RequestContext, id: string, action: AuditAction, details: AuditDetails = {}) => ({
    ...{ action, details, ip: clientIp(ctx), target: null },
    actor: { type: 'operator' as const, id },
    requestId: ctx.state.requestId,
  });

  /** Returns the name of the operator who sends a request; null if the sender is none. */
  const operatorOf = async (ctx: RequestContext, ip: string): Promise<string | null> => {
    const header = ctx.get('Authorization');
    if (header === '') {
      const user = (await sessions.find(ctx))?.user;
      return user && permissionsOf(user, config).includes('operator') ? user._id : null;
    }
    if (account === undefined) return null;
    if (isAccount(account, header)) {
      await throttle.admit(operator, { ip });
      return account.username;
    }
    await throttle.count(operator, { ip });
    audit.record(installationLog, entryOf(ctx, account.username, 'board.reject'));
    return null;
  };

  return async (ctx, next) => {
    if (ctx.path !== basePath && !ctx.path.startsWith(`${basePath}/`)) {
      await next();
      return;
    }
    const ip = clientIp(ctx);
    await rateLimits.perAddress.count(ctx, ip);
    const name = await operatorOf(ctx, ip);
    if (name === null) {
      if (account === undefined) throw new LecternError('NOT_FOUND', 'Not found');
      const reason = ctx.get('Authorization') === '' ? 'no password' : 'wrong name or password';
      addToRequestLine(ctx, { code: 'UNAUTHORIZED', reason });
      ctx.status = 401;
      ctx.set('WWW-Authenticate', 'Basic realm="Lectern", charset="UTF-8"');
      ctx.body = 'Log in with ADMIN_USERNAME and ADMIN_PASSWORD.';
      return;
    }
    await rateLimits.perAddress.uncount(ctx, ip);
    if (isCrossSiteWrite(ctx, publicOrigin)) throw new LecternError('FORBIDDEN', crossSiteWriteText);
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      const details = { method: ctx.method, path: ctx.path };
      await audit.recordNow(installationLog, entryOf(ctx, name, 'board.change', details));
    } else if (!visitors.has(`${name} ${ip}`)) {
      visitors.set(`${name} ${ip}`, true);
      audit.record(installationLog, entryOf(ctx, name, 'board.open'));
    }
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.set('Cache-Control', 'no-store');
    board ??= loadBoard(queue, publicPath(config));
    await (
      await board
    )(ctx, () => Promise.resolve());
    if (ctx.status === 404 && ctx.body === undefined) throw new LecternError('NOT_FOUND', 'Not found');
    if (typeof ctx.body === 'string') ctx.body = ctx.body.replace(foreignFonts, '');
  };
}

/** Loads Bull Board at the first request: most API processes never show it. */
async function loadBoard(queue: ExportQueue, path: string): Promise<Middleware> {
  const { createQueueBoard } = await import('./queue-board.ts');
  return createQueueBoard(queue, { mount: basePath, page: path + basePath });
}

function isAccount({ username, password }: Account, header: string): boolean {
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(header) ?? [];
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  // Digests have the same length, so timing reveals nothing about the lengths of name and password.
  return timingSafeEqual(digest(given), digest(`${username}:${password}`));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
