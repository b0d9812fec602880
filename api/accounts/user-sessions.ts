import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import type { Redis } from 'ioredis';
import type { Database } from '../../shared/models/database.ts';
import type { Config } from '../../shared/platform/config.ts';
import { findAccount } from '../../shared/models/user.ts';
import type { Account, User } from '../../shared/models/user.ts';
import { SessionStore } from './session-store.ts';
import type { SessionData } from './session-store.ts';

/** An account with the session of a request. */
export interface OpenSession extends Account {
  expiresAt: Date;
}

export interface SessionDependencies {
  config: Pick<Config, 'redisPrefix' | 'session' | 'publicUrl'>;
  redis: Redis;
  db: Database;
}

type SessionContext = Pick<Context, 'cookies'>;

/**
 * Returns the name of the session cookie. Browsers accept the prefix `__Host-` only over HTTPS, for the whole host, and
 * from that host.
 */
export function sessionCookieName(secure: boolean): string {
  return secure ? '__Host-lectern' : 'lectern';
}

/**
 * The sessions of users. A signed cookie contains the id, Redis stores the session, and it expires a fixed time after
 * the login. Requests without a validly signed cookie cause no lookup.
 */
export class UserSessions {
  readonly #db: Database;
  readonly #store: SessionStore;
  readonly #ttlMs: number;
  readonly #secure: boolean;

  constructor({ config, redis, db }: SessionDependencies) {
    this.#db = db;
    this.#store = new SessionStore(redis, config.redisPrefix);
    this.#ttlMs = config.session.hours * 3_600_000;
    this.#secure = config.publicUrl?.startsWith('https:') === true;
  }

  /**
   * Returns the current account of a request's session; null without a session, or if the user was disabled, the
   * password changed, or the organization is suspended.
   */
  async find(ctx: SessionContext): Promise<OpenSession | null> {
    const id = this.#readCookie(ctx);
    const data = id === undefined ? null : await this.#store.get(id);
    if (data === null || data.expiresAt <= Date.now()) return null;
    const account = await findAccount(this.#db, { _id: data.userId });
    if (account === null || !isValidFor(data, account.user)) return null;
    if (isSuspended(account)) return null;
    return { ...account, expiresAt: new Date(data.expiresAt) };
  }

  /** Begins a session, always with a new id: an attacker cannot plant one (session fixation). */
  async begin(ctx: SessionContext, account: Account): Promise<OpenSession> {
    const former = this.#readCookie(ctx);
    if (former !== undefined) await this.#store.remove(former);
    const id = randomBytes(32).toString('base64url');
    const expiresAt = new Date(Date.now() + this.#ttlMs);
    const { _id, sessionsEndedAt } = account.user;
    await this.#store.set(id, {
      userId: _id,
      sessionsEndedAt: sessionsEndedAt.getTime(),
      expiresAt: expiresAt.getTime(),
    });
    this.#writeCookie(ctx, id, expiresAt);
    return { ...account, expiresAt };
  }

  /** Ends the session of a request in all processes at once, and removes the cookie. */
  async end(ctx: SessionContext): Promise<void> {
    const id = this.#readCookie(ctx);
    if (id !== undefined) await this.#store.remove(id);
    this.#writeCookie(ctx, null, new Date(0));
  }

  get #cookieName(): string {
    return sessionCookieName(this.#secure);
  }

  #readCookie(ctx: SessionContext): string | undefined {
    return ctx.cookies.get(this.#cookieName, { signed: true });
  }

  #writeCookie({ cookies }: SessionContext, id: string | null, expires: Date): void {
    // PUBLIC_URL decides instead of the request, because TRUST_PROXY may omit the proxy that terminates HTTPS.
    cookies.secure = this.#secure;
    const options = { signed: true, httpOnly: true, sameSite: 'lax', secure: this.#secure } as const;
    cookies.set(this.#cookieName, id, { ...options, path: '/', expires, overwrite: true });
  }
}

export function isSuspended({ organization }: Account): boolean {
  return Boolean(organization?.suspendedAt);
}

function isValidFor(session: SessionData, { disabledAt, sessionsEndedAt }: User): boolean {
  return disabledAt === null && sessionsEndedAt.getTime() === session.sessionsEndedAt;
}
