import { decodeJwt } from 'jose';
import type { JWTPayload } from 'jose';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Logger } from '../../shared/platform/log.ts';
import { claim } from '../../shared/lti/claims.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiDependencies } from './dependencies.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { clearBrowserCookie, isRecognized } from './browser-binding.ts';
import { startDeepLinking } from './deep-linking.ts';
import { LaunchFault } from './faults.ts';
import { findPlatformOfLaunch } from './find-platform.ts';
import type { LaunchOutcome } from './launch-metrics.ts';
import { LaunchStates } from './launch-state.ts';
import type { LaunchState } from './launch-state.ts';
import { openLesson } from './open-lesson.ts';
import { launchPresentation, sendAskPage } from './pages.ts';
import { presentationOf, readMessage } from './read-message.ts';
import { verifyIdToken } from './verify-token.ts';

/** What a platform posts through the browser; our own page adds what it found in the platform's storage. */
export const launchSchema = z.object({
  id_token: z.string().optional().meta({ description: 'A JWT of the platform, RS256: the message.' }),
  state: z.string().optional().meta({ description: 'That of the login.' }),
  error: z.string().optional().meta({ description: 'Instead of the token: why the platform gives none.' }),
  error_description: z.string().optional().meta({ description: 'For the log.' }),
  storage_value: z.string().optional().meta({
    description: 'What the platform’s storage had; sent by Lectern’s own page alone.',
  }),
});

/**
 * Answers a launch: with the lesson, the choice of lessons, or a page that asks the platform's storage first.
 *
 * @throws {LaunchFault}
 */
export async function answerLaunch(
  deps: LtiDependencies,
  ctx: Context,
  fields: Fields,
): Promise<LaunchOutcome> {
  const { state, idToken, storageValue } = readLaunch(fields);
  const states = new LaunchStates(deps);
  const kept = await states.look(state);
  if (!isRecognized(ctx, deps.config, state, kept, storageValue)) {
    sendAskPage(deps, ctx, { state, idToken, kept });
    return 'asks_storage';
  }
  const { platform, payload } = await verifyLaunch(deps, ctx, idToken, kept);
  // Only now: only what a platform has signed for this very login makes Redis store something.
  await states.take(state);
  clearBrowserCookie(ctx, deps.config, state);
  const message = readMessage(payload, platform, kept);
  launchPresentation.set(ctx, presentationOf(message.claims));
  if (message.kind === 'deepLinking') {
    await startDeepLinking(deps, ctx, platform, message.claims);
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

/** Whatever is logged from here on names the platform. */
async function verifyLaunch(
  { db, lti }: Pick<LtiDependencies, 'db' | 'lti'>,
  ctx: Context,
  idToken: string,
  { issuer, clientId, authUrl, nonce }: LaunchState,
): Promise<{ platform: LtiPlatform; payload: JWTPayload }> {
  const platform = await findPlatformOfLaunch(db, { issuer, clientId, authUrl }, claimedDeployment(idToken));
  const { _id, organizationId, jwksUrl } = platform;
  ctx.state.log = (ctx.state.log as Logger).child({ platform: _id, organization: organizationId });
  const findKey = (kid: string) => lti.platformKeys.find(jwksUrl, kid);
  return { platform, payload: await verifyIdToken(idToken, { issuer, clientId, nonce, findKey }) };
}

/** Not verified yet: it says whose keys to verify with, and is looked at again behind that. */
function claimedDeployment(idToken: string): unknown {
  try {
    return decodeJwt(idToken)[claim.deploymentId];
  } catch {
    return undefined;
  }
}
