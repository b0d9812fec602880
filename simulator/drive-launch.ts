import { withTimeLimit } from '../shared/platform/time-limits.ts';
import { loginRequest, startLaunch } from './launches.ts';
import type { LaunchOptions } from './launches.ts';
import type { Platform } from './platform.ts';

/** A launch up to the form that the browser posts to the tool. */
export interface DrivenLaunch {
  /** The tool's redirect URI. */
  action: string;
  /** `id_token` and `state`; or `error` if the platform rejected the tool's request. */
  fields: Record<string, string>;
  /** The header Cookie for the redirect URI, with the cookies of the tool's login. */
  cookie: string;
  /** The tool's request to the authorization endpoint. */
  authorizationUrl: string;
}

export interface DriveOptions extends LaunchOptions {
  /** Changes to the parameters of the login; undefined removes one. */
  login?: Readonly<Record<string, string | undefined>>;
}

/** Long, because hundreds of launches may run at once. */
const timeoutMs = 120_000;

/** Tools redirect to test whether the browser keeps their cookies. */
const maxRedirects = 5;

/** Sends the login request of a launch to its tool, as its frame or tab does. Follows no redirects. */
export async function sendLogin(platform: Platform, options: DriveOptions): Promise<Response> {
  const { url, init } = loginOf(platform, options);
  return withTimeLimit({ timeoutMs }, (signal) => fetch(url, { ...init, signal }));
}

/**
 * Plays the browser of a launch up to the form with the message.
 *
 * @throws if the tool's login does not redirect to the platform, or the platform sends no form
 */
export function driveLaunch(platform: Platform, options: DriveOptions): Promise<DrivenLaunch> {
  return withTimeLimit({ timeoutMs }, async (signal) => {
    const cookies = new CookieJar();
    const authorizationUrl = await followLogin(platform, options, { cookies, signal });
    const answer = await fetch(authorizationUrl, { redirect: 'manual', signal });
    const page = await answer.text();
    if (!answer.ok) throw new Error(`The authorization request returned ${answer.status}: ${page}`);
    const form = readForm(page);
    return { ...form, cookie: cookies.headerFor(form.action), authorizationUrl };
  });
}

/** Posts the form of a launch to the tool, with the cookies of its login. Follows no redirects. */
export function submitLaunch({ action, fields, cookie }: DrivenLaunch): Promise<Response> {
  const headers: Record<string, string> = cookie === '' ? {} : { cookie };
  const init = { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' } as const;
  return withTimeLimit({ timeoutMs }, (signal) => fetch(action, { ...init, signal }));
}

function loginOf(platform: Platform, options: DriveOptions) {
  const launch = startLaunch(platform, options);
  const { method, action, fields } = loginRequest(platform, launch, options.login);
  const parameters = new URLSearchParams(fields);
  const headers = { 'sec-fetch-dest': launch.target === 'window' ? 'document' : 'iframe' };
  const init = { method, headers, redirect: 'manual' } as const;
  return method === 'POST'
    ? { url: action, init: { ...init, body: parameters } }
    : { url: `${action}?${parameters.toString()}`, init };
}

/** Follows the tool's redirects, with its cookies. @returns the first URL at the platform. */
async function followLogin(
  platform: Platform,
  options: DriveOptions,
  { cookies, signal }: { cookies: CookieJar; signal: AbortSignal },
): Promise<string> {
  const login = loginOf(platform, options);
  let { url } = login;
  let init: RequestInit = login.init;
  for (let followed = 0; followed <= maxRedirects; followed += 1) {
    const cookie = cookies.headerFor(url);
    const headers = { ...login.init.headers, ...(cookie !== '' && { cookie }) };
    const answer = await fetch(url, { ...init, headers, signal });
    cookies.keep(answer);
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`The login returned ${answer.status}: ${await answer.text()}`);
    await answer.body?.cancel();
    url = new URL(location, url).href;
    if (new URL(url).origin === new URL(platform.urls.authorization).origin) return url;
    // After 307 and 308, browsers repeat the form.
    if (answer.status !== 307 && answer.status !== 308) init = { ...init, method: 'GET', body: null };
  }
  throw new Error(`The login leads from one redirect to the next, the last one to ${url}`);
}

/** The cookies of one tool, by path. */
class CookieJar {
  readonly #cookies = new Map<string, { pair: string; path: string }>();

  keep({ headers }: Response): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const [, path = '/'] = attributes.map((text) => /^path=(.*)$/i.exec(text)).find(Boolean) ?? [];
      this.#cookies.set(`${pair.split('=', 1)[0]};${path}`, { pair, path: path.replace(/\/$/, '') });
    }
  }

  headerFor(url: string): string {
    const { pathname } = new URL(url);
    const sent = [...this.#cookies.values()].filter(({ path }) => `${pathname}/`.startsWith(`${path}/`));
    return sent.map(({ pair }) => pair).join('; ');
  }
}

function readForm(page: string): Pick<DrivenLaunch, 'action' | 'fields'> {
  const [, action] = /<form method="post" action="([^"]*)"/.exec(page) ?? [];
  if (action === undefined) throw new Error(`The platform sent no form: ${page}`);
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return {
    action: unescaped(action),
    fields: Object.fromEntries(
      fields.map(([, name = '', value = '']) => [unescaped(name), unescaped(value)]),
    ),
  };
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
