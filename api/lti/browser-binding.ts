import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Config } from '../../shared/platform/config.ts';
import { isCrossSiteWrite } from '../http/middleware/csrf.ts';
import { publicPath } from '../http/public-url.ts';
import { LaunchFault } from './faults.ts';
import { isBrowserOf, stateSeconds } from './launch-state.ts';
import type { StartedLogin, LaunchState } from './launch-state.ts';

type Settings = Pick<Config, 'publicUrl'>;

/*
 * Binds launches to browsers: protection against login CSRF. Each login gives its browser a secret, and the launch must
 * come with it. Otherwise an attacker could send a learner's browser a launch of the attacker's account.
 */

/** Tests whether the browser keeps cookies. It holds no data. */
const testCookie = 'lectern_lti_check';

/** Sets the cookie by which the redirected login shows that the browser keeps cookies. */
export function setTestCookie(ctx: Context, config: Settings): void {
  writeCookie(ctx, config, { name: testCookie, value: '1', path: '/lti/login', seconds: stateSeconds });
}

/**
 * Whether the launch will carry the login's cookie. Browsers may block cookies in frames only, so a top-level page
 * keeps them. Any other login, and one of a browser that does not send Sec-Fetch-Dest, has to show the test cookie.
 */
export function keepsCookies(ctx: Pick<Context, 'get'>): boolean {
  return ctx.get('Sec-Fetch-Dest') === 'document' || readCookies(ctx, testCookie).length > 0;
}

/**
 * Gives a browser the secret of its login. The cookie is partitioned, because most launches happen in a frame, where
 * browsers reject other cookies. Each login has its own cookie, because a page may hold several lessons.
 */
export function setBrowserCookie(
  ctx: Context,
  config: Settings,
  { state, browserSecret }: Pick<StartedLogin, 'state' | 'browserSecret'>,
): void {
  const name = cookieName(state);
  writeCookie(ctx, config, { name, value: browserSecret, path: '/lti', seconds: stateSeconds });
}

export function clearBrowserCookie(ctx: Context, config: Settings, state: string): void {
  writeCookie(ctx, config, { name: cookieName(state), value: '', path: '/lti', seconds: 0 });
}

/**
 * Whether a launch comes from the browser of its login, as its cookie or the platform's storage shows. False if
 * Lectern's page has yet to read that storage.
 *
 * @param storageValue the value that Lectern's own page read from the platform's storage, empty for none; undefined
 *   before it looked. From any other page it proves nothing: an attacker who began the login knows the secret, and
 *   could make another browser send it.
 * @throws {LaunchFault} state_mismatch, browser_not_recognized.
 */
export function isSameBrowser(
  ctx: Context,
  { publicUrl }: Settings,
  state: string,
  login: Pick<LaunchState, 'browser' | 'storageTarget'>,
  storageValue: string | undefined,
): boolean {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const stored = isCrossSiteWrite(ctx, publicOrigin) ? '' : (storageValue ?? '');
  const cookies = readCookies(ctx, cookieName(state));
  const secrets = cookies.length === 0 && stored !== '' ? [stored] : cookies;
  if (secrets.some((secret) => isBrowserOf(login, secret))) return true;
  if (secrets.length > 0) throw new LaunchFault('state_mismatch');
  if (login.storageTarget !== null && storageValue === undefined) return false;
  throw new LaunchFault('browser_not_recognized');
}

/** Sets Max-Age. Koa would set Expires, by this machine's clock, from which the browser's may differ. */
function writeCookie(
  ctx: Context,
  config: Settings,
  { name, value, path, seconds }: { name: string; value: string; path: string; seconds: number },
): void {
  const scope = `Path=${publicPath(config)}${path}; Max-Age=${seconds}`;
  // Browsers require Secure for SameSite=None. On localhost they accept Secure over http.
  ctx.append('Set-Cookie', `${name}=${value}; ${scope}; HttpOnly; Secure; SameSite=None; Partitioned`);
}

/** Reads cookies. Koa would cache a pattern for each name, and each launch has its own name. */
function readCookies(ctx: Pick<Context, 'get'>, name: string): string[] {
  return ctx
    .get('Cookie')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

function cookieName(state: string): string {
  return `lectern_lti_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
}
