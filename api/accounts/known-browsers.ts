import { createHash, randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import type { Config } from '../../shared/platform/config.ts';

const lifetimeMs = 180 * 24 * 3_600_000;

/**
 * Recognizes browsers in which a user has logged in before, by a signed cookie (a "device cookie", as OWASP describes
 * it). Failed logins of strangers then cannot lock the user out of them. The cookie is no credential.
 */
export class KnownBrowsers {
  readonly #secure: boolean;
  readonly #name: string;

  constructor({ publicUrl }: Pick<Config, 'publicUrl'>) {
    this.#secure = publicUrl?.startsWith('https:') === true;
    this.#name = this.#secure ? '__Host-lectern-browser' : 'lectern-browser';
  }

  /** Returns the id of a request's browser; null if this user never logged in there, or another one did since. */
  find({ cookies }: Pick<Context, 'cookies'>, email: string): string | null {
    const [id = '', account] = cookies.get(this.#name, { signed: true })?.split('.') ?? [];
    return account === digestOf(email) ? id : null;
  }

  /** Remembers a user's browser after a login. */
  remember({ cookies }: Pick<Context, 'cookies'>, email: string, known: string | null): void {
    cookies.secure = this.#secure;
    const id = known ?? randomBytes(16).toString('base64url');
    cookies.set(this.#name, `${id}.${digestOf(email)}`, {
      ...{ signed: true, httpOnly: true, sameSite: 'lax', secure: this.#secure },
      ...{ path: '/', expires: new Date(Date.now() + lifetimeMs), overwrite: true },
    });
  }
}

function digestOf(email: string): string {
  return createHash('sha256').update(email).digest('base64url').slice(0, 22);
}
