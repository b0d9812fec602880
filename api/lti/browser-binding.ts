import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Config } from '../../shared/config.ts';
import { isForeignWrite } from '../middleware/foreign-writes.ts';
import { publicPath } from '../public-address.ts';
import { LaunchFault, UnknownBrowser } from './faults.ts';
import { isBrowserOf, stateSeconds } from './launch-state.ts';
import type { BegunLaunch, LaunchState } from './launch-state.ts';

type Settings = Pick<Config, 'publicUrl'>;

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
  writeCookie(ctx, config, state, browserSecret, stateSeconds);
}

/** Takes the cookie of a launch away. */
export function clearBrowserCookie(ctx: Context, config: Settings, state: string): void {
  writeCookie(ctx, config, state, '', 0);
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
  kept: Pick<LaunchState, 'browser' | 'storageTarget' | 'login'>,
  storageValue: string | undefined,
): boolean {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const stored = isForeignWrite(ctx, publicOrigin) ? '' : (storageValue ?? '');
  const cookies = readCookies(ctx, cookieName(state));
  const shown = cookies.length === 0 && stored !== '' ? [stored] : cookies;
  if (shown.some((secret) => isBrowserOf(kept, secret))) return true;
  if (shown.length > 0) throw new LaunchFault('state_mismatch');
  if (kept.storageTarget !== null && storageValue === undefined) return false;
  throw new UnknownBrowser(kept.login);
}

/** Not by Koa: it gives the end by the clock of this machine, which need not be the browser's. */
function writeCookie(ctx: Context, config: Settings, state: string, value: string, seconds: number): void {
  const path = `${publicPath(config)}/lti`;
  // Browsers take SameSite=None with Secure alone. On localhost they do so without HTTPS.
  const attributes = `Path=${path}; Max-Age=${seconds}; HttpOnly; Secure; SameSite=None; Partitioned`;
  ctx.append('Set-Cookie', `${cookieName(state)}=${value}; ${attributes}`);
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
