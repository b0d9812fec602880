import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import type { Redis } from 'ioredis';
import type { Database } from '../../shared/models/database.ts';
import type { Config } from '../../shared/platform/config.ts';
import { findAccount } from '../../shared/models/user.ts';
import type { Account, User } from '../../shared/models/user.ts';
import { SessionStore } from './session-store.ts';
import type { SessionData } from './session-store.ts';

/** An account whose session a request carries. */
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
 * The sessions of users: a signed cookie names one, Redis holds it, and it ends a fixed time after the log-in. Redis
 * is asked only where a session counts, and only when there is a cookie that Lectern has signed.
 */
export class UserSessions {
  readonly #db: Database;
  readonly #store: SessionStore;
  readonly #milliseconds: number;
  readonly #secure: boolean;

  constructor({ config, redis, db }: SessionDependencies) {
    this.#db = db;
    this.#store = new SessionStore(redis, config.redisPrefix);
    this.#milliseconds = config.session.hours * 3_600_000;
    this.#secure = config.publicUrl?.startsWith('https:') === true;
  }

  /**
   * The account of the session that a request carries, as it is now. Null without a session, and when the user was
   * disabled or has another password since.
   */
  async find(ctx: SessionContext): Promise<OpenSession | null> {
    const id = this.#readCookie(ctx);
    const data = id === undefined ? null : await this.#store.get(id);
    if (data === null || data.expiresAt <= Date.now()) return null;
    const account = await findAccount(this.#db, { _id: data.userId });
    if (account === null || !isGoodFor(data, account.user)) return null;
    return { ...account, expiresAt: new Date(data.expiresAt) };
  }

  /** Begins a session, always under an id of its own: one that somebody planted in the browser leads nowhere. */
  async begin(ctx: SessionContext, account: Account): Promise<OpenSession> {
    const former = this.#readCookie(ctx);
    if (former !== undefined) await this.#store.remove(former);
    const id = randomBytes(32).toString('base64url');
    const expiresAt = new Date(Date.now() + this.#milliseconds);
    const { _id, passwordChangedAt } = account.user;
    await this.#store.set(id, {
      userId: _id,
      passwordChangedAt: passwordChangedAt.getTime(),
      expiresAt: expiresAt.getTime(),
    });
    this.#writeCookie(ctx, id, expiresAt);
    return { ...account, expiresAt };
  }

  /** Ends the session that a request carries, everywhere and at once, and removes the cookie. */
  async end(ctx: SessionContext): Promise<void> {
    const id = this.#readCookie(ctx);
    if (id !== undefined) await this.#store.remove(id);
    this.#writeCookie(ctx, null, new Date(0));
  }

  /** Browsers take a cookie with this prefix from HTTPS alone, for the whole host, and from no other host. */
  get #cookieName(): string {
    return this.#secure ? '__Host-lectern' : 'lectern';
  }

  #readCookie(ctx: SessionContext): string | undefined {
    return ctx.cookies.get(this.#cookieName, { signed: true });
  }

  #writeCookie({ cookies }: SessionContext, id: string | null, expires: Date): void {
    // By what address the callers use: a proxy that speaks HTTPS need not be one that TRUST_PROXY counts.
    cookies.secure = this.#secure;
    const options = { signed: true, httpOnly: true, sameSite: 'lax', secure: this.#secure } as const;
    cookies.set(this.#cookieName, id, { ...options, path: '/', expires, overwrite: true });
  }
}

function isGoodFor(session: SessionData, { disabledAt, passwordChangedAt }: User): boolean {
  return disabledAt === null && passwordChangedAt.getTime() === session.passwordChangedAt;
}
