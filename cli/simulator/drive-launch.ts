import { loginRequest, startLaunch } from './launches.ts';
import type { LaunchOptions } from './launches.ts';
import type { Platform } from './platform.ts';

/** A launch that has come as far as the form which the platform has the browser post to the tool. */
export interface DrivenLaunch {
  /** The tool's redirect URI. */
  action: string;
  /** `id_token` and `state`; or `error`, where the platform has refused the tool's request. */
  fields: Record<string, string>;
  /** The cookies that the tool set at the login, as the header Cookie has them. */
  cookie: string;
  /** Where the tool's login led: its request to the authorization endpoint. */
  authorizationUrl: string;
}

export interface DriveOptions extends LaunchOptions {
  /** Laid over the parameters of the login; undefined takes one away. */
  login?: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal;
}

// Of a whole crowd of launches, the last one waits for all others.
const requestMilliseconds = 120_000;

/** Sends the login request of a launch to its tool, and gives the tool's answer. Redirects are not followed. */
export async function sendLogin(platform: Platform, options: DriveOptions): Promise<Response> {
  const launch = startLaunch(platform, options);
  const { method, action, fields } = loginRequest(platform, launch, options.login);
  const parameters = new URLSearchParams(fields);
  const init = { redirect: 'manual', signal: deadline(options.signal) } as const;
  if (method === 'POST') return fetch(action, { ...init, method, body: parameters });
  return fetch(`${action}?${parameters.toString()}`, init);
}

/**
 * Plays the browser of a launch up to the form that brings the message to the tool.
 *
 * @throws where the tool's login does not redirect, or the platform answers with something else than a form
 */
export async function driveLaunch(platform: Platform, options: DriveOptions): Promise<DrivenLaunch> {
  const login = await sendLogin(platform, options);
  const location = login.headers.get('location');
  if (location === null)
    throw new Error(`The login was answered with ${login.status}: ${await login.text()}`);
  await login.body?.cancel();
  const authorizationUrl = new URL(location, login.url).href;
  const answer = await fetch(authorizationUrl, { redirect: 'manual', signal: deadline(options.signal) });
  const page = await answer.text();
  if (!answer.ok) throw new Error(`The authorization request was answered with ${answer.status}: ${page}`);
  const cookie = login.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
  return { ...readForm(page), cookie: cookie.join('; '), authorizationUrl };
}

/** Posts the form of a launch to the tool, with the cookies of its login. Redirects are not followed. */
export function submitLaunch(
  { action, fields, cookie }: DrivenLaunch,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(action, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: cookie === '' ? {} : { cookie },
    redirect: 'manual',
    signal: deadline(signal),
  });
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

function deadline(signal?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(requestMilliseconds);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}
