import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Config } from '../../shared/platform/config.ts';
import { isCrossSiteWrite } from '../http/middleware/csrf.ts';
import { publicPath } from '../http/public-url.ts';
import { LaunchFault } from './faults.ts';
import { isBrowserOf, stateSeconds } from './launch-state.ts';
import type { BegunLaunch, LaunchState } from './launch-state.ts';

type Settings = Pick<Config, 'publicUrl'>;

/** Says nothing of anybody, but that the browser keeps cookies where it has this one. */
const checkCookie = 'lectern_lti_check';

/** Gives a browser a cookie to show, before a login is begun that needs one. */
export function setCheckCookie(ctx: Context, config: Settings): void {
  writeCookie(ctx, config, { name: checkCookie, value: '1', path: '/lti/login', seconds: stateSeconds });
}

/**
 * Whether a browser will have the cookie of a login with its launch: as it has the one to show, or because the login
 * is a page of its own. Those of pages in frames are blocked; browsers that do not say where a page is have to show it.
 */
export function keepsCookies(ctx: Pick<Context, 'get'>): boolean {
  return ctx.get('Sec-Fetch-Dest') === 'document' || readCookies(ctx, checkCookie).length > 0;
}

/**
 * Gives a browser the secret of its login. Launches mostly happen in a frame of the platform's page, where browsers
 * keep no cookie but one that is partitioned, if any; and each login has a cookie of its own, for a page may hold
 * several lessons.
 */
export function setBrowserCookie(
  ctx: Context,
  config: Settings,
  { state, browserSecret }: Pick<BegunLaunch, 'state' | 'browserSecret'>,
): void {
  const name = cookieName(state);
  writeCookie(ctx, config, { name, value: browserSecret, path: '/lti', seconds: stateSeconds });
}

/** Takes the cookie of a launch away. */
export function clearBrowserCookie(ctx: Context, config: Settings, state: string): void {
  writeCookie(ctx, config, { name: cookieName(state), value: '', path: '/lti', seconds: 0 });
}

/**
 * Whether a launch comes from the browser that its login was begun in: by the cookie, else by what the platform's
 * storage had. False when it may yet show the latter.
 *
 * @param storageValue what a page of ours found in the platform's storage, empty for nothing; undefined before it
 *   looked. From any other page it proves nothing: whoever began a login has its secret, and could have another
 *   browser send it.
 * @throws {LaunchFault} state_mismatch, browser_not_recognized.
 */
export function isRecognized(
  ctx: Context,
  { publicUrl }: Settings,
  state: string,
  kept: Pick<LaunchState, 'browser' | 'storageTarget'>,
  storageValue: string | undefined,
): boolean {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const stored = isCrossSiteWrite(ctx, publicOrigin) ? '' : (storageValue ?? '');
  const cookies = readCookies(ctx, cookieName(state));
  const shown = cookies.length === 0 && stored !== '' ? [stored] : cookies;
  if (shown.some((secret) => isBrowserOf(kept, secret))) return true;
  if (shown.length > 0) throw new LaunchFault('state_mismatch');
  if (kept.storageTarget !== null && storageValue === undefined) return false;
  throw new LaunchFault('browser_not_recognized');
}

/** Not by Koa: it gives the end by the clock of this machine, which need not be the browser's. */
function writeCookie(
  ctx: Context,
  config: Settings,
  { name, value, path, seconds }: { name: string; value: string; path: string; seconds: number },
): void {
  const where = `Path=${publicPath(config)}${path}; Max-Age=${seconds}`;
  // Browsers take SameSite=None with Secure alone. On localhost they do so without HTTPS.
  ctx.append('Set-Cookie', `${name}=${value}; ${where}; HttpOnly; Secure; SameSite=None; Partitioned`);
}

/** Not by Koa: it keeps something of every name that it was ever asked for, and here each launch has its own. */
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
