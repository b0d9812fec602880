import type { Context } from 'koa';
import { z } from 'zod';
import type { AppDependencies } from '../dependencies.ts';
import type { Fields } from '../middleware/form-body.ts';
import { publicAddress } from '../public-address.ts';
import { setBrowserCookie } from './browser-binding.ts';
import { LaunchFault } from './faults.ts';
import { findPlatformOfLogin } from './find-platform.ts';
import { LaunchStates } from './launch-state.ts';
import { sendKeepPage } from './pages.ts';

const required = z.string().min(1);
/** Some platforms send fields that they have nothing for. */
const optional = z
  .string()
  .optional()
  .transform((text) => (text === '' ? undefined : text));

/** Third-party initiated login: what a platform begins a launch with (LTI 1.3, 1EdTech Security Framework 5.1.1). */
export const loginSchema = z.object({
  iss: required.meta({ description: 'The issuer of the platform.' }),
  login_hint: required.meta({ description: 'For the platform; goes back to it as it came.' }),
  target_link_uri: required.meta({ description: 'Where the launch ends: an address of this Lectern.' }),
  client_id: optional.meta({ description: 'What the platform calls Lectern.' }),
  lti_deployment_id: optional.meta({ description: 'The deployment of the launch.' }),
  lti_message_hint: optional.meta({ description: 'For the platform; goes back to it as it came.' }),
  lti_storage_target: optional.meta({
    description: 'The frame in which the platform keeps data for its tools, or `_parent`.',
  }),
});
type Login = z.output<typeof loginSchema>;

/**
 * Sends the browser on to its platform, with a secret by which it will be known again: in a cookie, and in the
 * platform's storage where it offers one.
 *
 * @throws {LaunchFault}
 */
export async function startLogin(deps: AppDependencies, ctx: Context, fields: Fields): Promise<void> {
  const login = readLogin(fields);
  const address = publicAddress(ctx, deps.config);
  assertOwnTarget(login.target_link_uri, address);
  const { issuer, clientId, authUrl } = await findPlatformOfLogin(deps.db, {
    issuer: login.iss,
    clientId: login.client_id,
    deploymentId: login.lti_deployment_id,
  });
  const { lti_storage_target: storageTarget = null, ...again } = login;
  const begun = await new LaunchStates(deps).begin({
    issuer,
    clientId,
    authUrl,
    targetLinkUri: login.target_link_uri,
    storageTarget,
    login: withoutMissing(again),
  });
  setBrowserCookie(ctx, deps.config, begun);
  const next = authorizationUrl(authUrl, {
    scope: 'openid',
    response_type: 'id_token',
    response_mode: 'form_post',
    prompt: 'none',
    client_id: clientId,
    redirect_uri: `${address}/lti/launch`,
    login_hint: login.login_hint,
    lti_message_hint: login.lti_message_hint,
    state: begun.state,
    nonce: begun.nonce,
  });
  if (storageTarget === null) ctx.redirect(next);
  else sendKeepPage(deps, ctx, { target: storageTarget, authUrl, next, ...begun });
}

function readLogin(fields: Fields): Login {
  const parsed = loginSchema.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  throw new LaunchFault('login_incomplete', { missing: parsed.error.issues.map(({ path }) => path[0]) });
}

/** The platform names where a launch ends; it is to be here, whoever began the login. */
function assertOwnTarget(target: string, address: string): void {
  const [own, given] = [`${address}/`, target].map((text) => (URL.canParse(text) ? new URL(text) : null));
  if (!own || given?.origin !== own.origin || !`${given.pathname}/`.startsWith(own.pathname)) {
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
