import type { Context } from 'koa';
import { z } from 'zod';
import type { LtiDependencies } from './dependencies.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { publicUrlOf, publicPath } from '../http/public-url.ts';
import { keepsCookies, setBrowserCookie, setCheckCookie } from './browser-binding.ts';
import { CookiesBlocked, LaunchFault } from './faults.ts';
import { findPlatformOfLogin } from './find-platform.ts';
import type { PlatformOfLogin } from './find-platform.ts';
import { digestOfAddress, LaunchStates } from './launch-state.ts';
import type { BegunLaunch } from './launch-state.ts';
import { sendKeepPage } from './pages.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

/** Of ids, in characters. */
const idLength = 255;
const addressLength = 2048;
const loginHintLength = 2048;
/** Those of some platforms are tokens. */
const messageHintLength = 8192;

const required = (length: number) => z.string().min(1).max(length);
/** Some platforms send fields that they have nothing for. */
const optional = (length: number) =>
  z
    .string()
    .max(length)
    .optional()
    .transform((text) => (text === '' ? undefined : text));

/** Third-party initiated login: what a platform begins a launch with (LTI 1.3, 1EdTech Security Framework 5.1.1). */
export const loginSchema = z.object({
  iss: required(idLength).meta({ description: 'The issuer of the platform.' }),
  login_hint: required(loginHintLength).meta({
    description: 'For the platform; goes back to it as it came.',
  }),
  target_link_uri: required(addressLength).meta({
    description: 'Where the launch ends: an address of this Lectern.',
  }),
  client_id: optional(idLength).meta({ description: 'What the platform calls Lectern.' }),
  lti_deployment_id: optional(idLength).meta({ description: 'The deployment of the launch.' }),
  lti_message_hint: optional(messageHintLength).meta({
    description: 'For the platform; goes back to it as it came.',
  }),
  lti_storage_target: optional(idLength).meta({
    description: 'The frame in which the platform keeps data for its tools, or `_parent`.',
  }),
});
type Login = z.output<typeof loginSchema>;

/**
 * Sends the browser on to its platform, with a secret by which it will be known again: in a cookie, else in the
 * platform's storage. A platform answers a login once, so whether the browser keeps cookies has to be known before: a
 * login that does not show it comes once more, to show the cookie that it was given.
 *
 * @param checked whether it is that second time.
 * @throws {LaunchFault} also cookies_blocked, with the login for a tab of its own.
 */
export async function startLogin(
  deps: LtiDependencies,
  ctx: Context,
  fields: Fields,
  { checked }: { checked: boolean },
): Promise<void> {
  const login = readLogin(fields);
  assertOwnTarget(login.target_link_uri, publicUrlOf(ctx, deps.config));
  const keeps = keepsCookies(ctx);
  if (!keeps && !checked) {
    askForCookie(deps, ctx);
    return;
  }
  const platform = await findPlatformOfLogin(deps.db, {
    issuer: login.iss,
    clientId: login.client_id,
    deploymentId: login.lti_deployment_id,
  });
  const { lti_storage_target: target = null, ...again } = login;
  const blocked = new CookiesBlocked(withoutMissing(again));
  if (!keeps && target === null) throw blocked;
  const storageTarget = keeps ? null : target;
  const { next, ...begun } = begin(deps, ctx, { login, platform, storageTarget });
  if (storageTarget === null) ctx.redirect(next);
  else sendKeepPage(deps, ctx, { ...begun, target: storageTarget, authUrl: platform.authUrl, next, blocked });
}

/** The login comes again as it is: of a form, no field stands in an address. */
function askForCookie({ config }: Pick<LtiDependencies, 'config'>, ctx: Context): void {
  setCheckCookie(ctx, config);
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
): BegunLaunch & { next: string } {
  const { _id: platformId, clientId, authUrl } = platform;
  const target = digestOfAddress(login.target_link_uri);
  const begun = new LaunchStates(deps).begin({ platformId, target, storageTarget });
  setBrowserCookie(ctx, deps.config, begun);
  const next = authorizationUrl(authUrl, {
    scope: 'openid',
    response_type: 'id_token',
    response_mode: 'form_post',
    prompt: 'none',
    client_id: clientId,
    redirect_uri: `${publicUrlOf(ctx, deps.config)}/lti/launch`,
    login_hint: login.login_hint,
    lti_message_hint: login.lti_message_hint,
    state: begun.state,
    nonce: begun.nonce,
  });
  return { ...begun, next };
}

function readLogin(fields: Fields): Login {
  const parsed = loginSchema.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const long = issues.filter(({ code }) => code === 'too_big');
  if (long.length > 0) throw new LaunchFault('login_too_long', { long: long.map(({ path }) => path[0]) });
  throw new LaunchFault('login_incomplete', { missing: issues.map(({ path }) => path[0]) });
}

/** The platform names where a launch ends; it is to be here, whoever began the login. */
function assertOwnTarget(target: string, address: string): void {
  const own = parseUrl(`${address}/`);
  const given = parseUrl(target);
  if (own === null || given?.origin !== own.origin || !`${given.pathname}/`.startsWith(own.pathname)) {
    throw new LaunchFault('foreign_target', { target: target.slice(0, 200) });
  }
}

/** The address of a platform may have a query of its own. */
function authorizationUrl(authUrl: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(authUrl);
  for (const [name, value] of Object.entries(withoutMissing(parameters))) url.searchParams.set(name, value);
  return url.href;
}

function withoutMissing(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
