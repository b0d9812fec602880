import type { Context } from 'koa';
import { z } from 'zod';
import type { LtiDependencies } from './dependencies.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { publicPath, publicUrlOf } from '../http/public-url.ts';
import { keepsCookies, setBrowserCookie, setTestCookie } from './browser-binding.ts';
import { CookiesBlocked, LaunchFault } from './faults.ts';
import { findPlatformOfLogin } from './find-platform.ts';
import type { PlatformOfLogin } from './find-platform.ts';
import { digestOfUrl, LaunchStates } from './launch-state.ts';
import type { StartedLogin } from './launch-state.ts';
import { sendStoreSecretPage } from './pages.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

/** Limits of fields, in characters. */
const maxId = 255;
const maxUrl = 2048;
const maxLoginHint = 2048;
/** Some platforms send a token. */
const maxMessageHint = 8192;

const required = (maxLength: number) => z.string().min(1).max(maxLength);
/** Some platforms send empty fields. */
const optional = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .optional()
    .transform((text) => (text === '' ? undefined : text));

/** Third-party initiated login: the platform's first request of a launch (1EdTech Security Framework 5.1.1). */
export const loginSchema = z.object({
  iss: required(maxId).meta({ description: 'The issuer of the platform.' }),
  login_hint: required(maxLoginHint).meta({ description: 'Returned to the platform unchanged.' }),
  target_link_uri: required(maxUrl).meta({
    description: 'The URL that the launch opens, on this Lectern.',
  }),
  client_id: optional(maxId).meta({ description: 'The client id that the platform gave Lectern.' }),
  lti_deployment_id: optional(maxId).meta({ description: 'The deployment of the launch.' }),
  lti_message_hint: optional(maxMessageHint).meta({ description: 'Returned to the platform unchanged.' }),
  lti_storage_target: optional(maxId).meta({
    description: 'The frame in which the platform stores data for its tools, or `_parent`.',
  }),
});
type Login = z.output<typeof loginSchema>;

/**
 * Redirects the browser to its platform, and gives it the secret that binds the launch to it: in a cookie, or in the
 * platform's storage if cookies are blocked. Platforms answer a login only once, so Lectern first has to know whether
 * the browser keeps cookies. To test this, it redirects a login once if it may be inside a frame.
 *
 * @param checked whether this is the redirected request.
 * @throws {LaunchFault} also cookies_blocked, with the fields to repeat the login in a new tab.
 */
export async function startLogin(
  deps: LtiDependencies,
  ctx: Context,
  fields: Fields,
  { checked }: { checked: boolean },
): Promise<void> {
  const login = readLogin(fields);
  assertOwnTarget(login.target_link_uri, publicUrlOf(ctx, deps.config));
  const hasCookies = keepsCookies(ctx);
  if (!hasCookies && !checked) {
    redirectToCookieTest(deps, ctx);
    return;
  }
  const platform = await findPlatformOfLogin(deps.db, {
    issuer: login.iss,
    clientId: login.client_id,
    deploymentId: login.lti_deployment_id,
  });
  const { lti_storage_target: target = null, ...repeatable } = login;
  const blocked = new CookiesBlocked(withoutUndefined(repeatable));
  if (!hasCookies && target === null) throw blocked;
  const storageTarget = hasCookies ? null : target;
  const { next, ...started } = begin(deps, ctx, { login, platform, storageTarget });
  if (storageTarget === null) ctx.redirect(next);
  else
    sendStoreSecretPage(deps, ctx, {
      ...started,
      target: storageTarget,
      authUrl: platform.authUrl,
      next,
      blocked,
    });
}

/** Repeats the login with a test cookie. With status 307 the fields of a form stay in the body. */
function redirectToCookieTest({ config }: Pick<LtiDependencies, 'config'>, ctx: Context): void {
  setTestCookie(ctx, config);
  ctx.redirect(`${publicPath(config)}/lti/login/checked${ctx.search}`);
  ctx.status = 307;
}

function begin(
  deps: LtiDependencies,
  ctx: Context,
  {
    login,
    platform,
    storageTarget,
  }: {
    login: Login;
    platform: PlatformOfLogin;
    storageTarget: string | null;
  },
): StartedLogin & { next: string } {
  const { _id: platformId, clientId, authUrl } = platform;
  const target = digestOfUrl(login.target_link_uri);
  const started = new LaunchStates(deps).begin({ platformId, target, storageTarget });
  setBrowserCookie(ctx, deps.config, started);
  const next = authorizationUrl(authUrl, {
    scope: 'openid',
    response_type: 'id_token',
    response_mode: 'form_post',
    prompt: 'none',
    client_id: clientId,
    redirect_uri: `${publicUrlOf(ctx, deps.config)}/lti/launch`,
    login_hint: login.login_hint,
    lti_message_hint: login.lti_message_hint,
    state: started.state,
    nonce: started.nonce,
  });
  return { ...started, next };
}

function readLogin(fields: Fields): Login {
  const parsed = loginSchema.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const long = issues.filter(({ code }) => code === 'too_big');
  if (long.length > 0) throw new LaunchFault('login_too_long', { long: long.map(({ path }) => path[0]) });
  throw new LaunchFault('login_incomplete', { missing: issues.map(({ path }) => path[0]) });
}

/** Prevents open redirects: any client can begin a login, and names the launch's target. */
function assertOwnTarget(target: string, baseUrl: string): void {
  const own = parseUrl(`${baseUrl}/`);
  const given = parseUrl(target);
  if (own === null || given?.origin !== own.origin || !`${given.pathname}/`.startsWith(own.pathname)) {
    throw new LaunchFault('foreign_target', { target: target.slice(0, 200) });
  }
}

/** Adds parameters to the authorization endpoint's URL, which may have a query. */
function authorizationUrl(authUrl: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(authUrl);
  for (const [name, value] of Object.entries(withoutUndefined(parameters))) url.searchParams.set(name, value);
  return url.href;
}

function withoutUndefined(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
