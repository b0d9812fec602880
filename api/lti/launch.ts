import { decodeJwt } from 'jose';
import type { CryptoKey, JWTPayload } from 'jose';
import { requestValue } from '../http/context.ts';
import type { RequestContext } from '../http/context.ts';
import { z } from 'zod';
import { claim } from '../../shared/lti/claims.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import type { LaunchOutcome, LtiDependencies } from './dependencies.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { clearBrowserCookie, isSameBrowser } from './browser-binding.ts';
import { startDeepLinking } from './deep-linking.ts';
import { LaunchFault } from './faults.ts';
import { findPlatformOfLaunch, requireDeployment } from './find-platform.ts';
import { LaunchStates } from './launch-state.ts';
import type { LaunchState } from './launch-state.ts';
import { openLesson } from './open-lesson.ts';
import { launchPresentation, sendReadSecretPage } from './pages.ts';
import { presentationOf, readMessage } from './read-message.ts';
import { verifyIdToken } from './verify-token.ts';

/** The fields that a platform posts through the browser. Lectern's own page adds `storage_value`. */
export const launchSchema = z.object({
  id_token: z
    .string()
    .optional()
    .meta({ description: 'The message: a JWT of the platform, signed with RS256.' }),
  state: z.string().optional().meta({ description: 'The state of the login.' }),
  error: z.string().optional().meta({ description: 'Why the platform sends no token.' }),
  error_description: z.string().optional().meta({ description: 'For the log.' }),
  storage_value: z.string().optional().meta({
    description: 'The value from the platform’s storage. Only Lectern’s own page sends it.',
  }),
});

/** The id of the platform that a launch claims to come from, once it is found. */
export const launchingPlatform = requestValue<string>('launching platform');

/**
 * Responds to a launch: redirects to the lesson or to the lesson selection, or sends a page that reads the platform's
 * storage first.
 *
 * @throws {LaunchFault}
 */
export async function handleLaunch(
  deps: LtiDependencies,
  ctx: RequestContext,
  fields: Fields,
): Promise<LaunchOutcome> {
  const { state, idToken, storageValue } = readLaunch(fields);
  const states = new LaunchStates(deps);
  const login = await states.read(state);
  if (!isSameBrowser(ctx, deps.config, state, login, storageValue)) {
    sendReadSecretPage(deps, ctx, { state, idToken, login });
    return 'asks_storage';
  }
  const { platform, payload } = await verifyLaunch(deps, ctx, idToken, login);
  // After the signature check, so that only launches that a platform signed for this login store something in Redis.
  await states.consume(state);
  clearBrowserCookie(ctx, deps.config, state);
  await requireDeployment(deps.db, platform, payload[claim.deploymentId]);
  const message = readMessage(idToken, payload, login);
  launchPresentation.set(ctx, presentationOf(message.claims));
  if (message.kind === 'deepLinking') {
    await startDeepLinking(deps, ctx, platform, message);
    return 'deep_linking';
  }
  const { lessonId, token, untracked } = await openLesson(deps, platform, message.claims);
  ctx.redirect(`${publicUrlOf(ctx, deps.config)}/embed/${lessonId}?token=${token}`);
  ctx.status = 303;
  return untracked === undefined ? 'lesson' : 'lesson_untracked';
}

function readLaunch(fields: Fields): { state: string; idToken: string; storageValue: string | undefined } {
  const form = launchSchema.parse(Object.fromEntries(fields));
  if (form.error !== undefined) {
    throw new LaunchFault('platform_error', { error: form.error, description: form.error_description });
  }
  if (!form.state) throw new LaunchFault('state_missing');
  if (!form.id_token) throw new LaunchFault('token_missing');
  return { state: form.state, idToken: form.id_token, storageValue: form.storage_value };
}

/** Verifies the id_token with the platform's keys. All later log lines of the request name the platform. */
async function verifyLaunch(
  { db, lti }: Pick<LtiDependencies, 'db' | 'lti'>,
  ctx: RequestContext,
  idToken: string,
  { issuer, clientId, authUrl, nonce }: LaunchState,
): Promise<{ platform: LtiPlatform; payload: JWTPayload }> {
  const platform = await findPlatformOfLaunch(db, { issuer, clientId, authUrl }, claimedDeployment(idToken));
  const { _id, organizationId, jwksUrl } = platform;
  launchingPlatform.set(ctx, _id);
  ctx.state.log = ctx.state.log.child({ platform: _id, organization: organizationId });
  const findKey = (kid: string, failed?: CryptoKey) => lti.platformKeys.find(jwksUrl, kid, failed);
  return { platform, payload: await verifyIdToken(idToken, { issuer, clientId, nonce, findKey }) };
}

/** Returns the deployment of an unverified token, to find its platform. It is checked again after verification. */
function claimedDeployment(idToken: string): unknown {
  try {
    return decodeJwt(idToken)[claim.deploymentId];
  } catch {
    return undefined;
  }
}
