import type { JWTPayload } from 'jose';
import {
  claim,
  deepLinkingClaims,
  isNothing,
  ltiVersion,
  messageTypes,
  resourceLinkClaims,
} from '../../shared/lti/claims.ts';
import type { DeepLinkingClaims, ResourceLinkClaims } from '../../shared/lti/claims.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { LaunchFault } from './faults.ts';
import { digestOfAddress } from './launch-state.ts';
import type { LaunchState } from './launch-state.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

/** What a platform wants, verified. */
export type LaunchMessage =
  { kind: 'resourceLink'; claims: ResourceLinkClaims } | { kind: 'deepLinking'; claims: DeepLinkingClaims };

/** How the platform wants its user to be met, where it says so. */
export interface LaunchPresentation {
  locale?: string | undefined;
  /** Not looked at yet: it may be no address for a browser. */
  returnUrl?: string | undefined;
}

export function presentationOf(claims: LaunchMessage['claims']): LaunchPresentation {
  const { locale, return_url: returnUrl } = claims[claim.launchPresentation] ?? {};
  return { locale, returnUrl };
}

/**
 * Reads the message of a verified id_token.
 *
 * @param login has where it said that the launch would go.
 * @throws {LaunchFault}
 */
export function readMessage(
  payload: JWTPayload,
  { deploymentIds }: Pick<LtiPlatform, 'deploymentIds'>,
  login: Pick<LaunchState, 'target'>,
): LaunchMessage {
  const { [claim.version]: version, [claim.messageType]: type, [claim.deploymentId]: deployment } = payload;
  if (version !== ltiVersion) throw new LaunchFault('wrong_version', { sent: version });
  if (type !== messageTypes.resourceLink && type !== messageTypes.deepLinking) {
    throw new LaunchFault('wrong_message_type', { sent: type });
  }
  if (!deploymentIds.some((id) => id === deployment)) {
    throw new LaunchFault('unknown_deployment', { deployment });
  }
  const target = payload[claim.targetLinkUri];
  // It names a link's target; who is to choose one may come without.
  const mayLackTarget = target === undefined && type === messageTypes.deepLinking;
  if (!mayLackTarget && !isAddressOf(login, target)) throw new LaunchFault('target_mismatch');
  return type === messageTypes.resourceLink ? readResourceLink(payload) : readDeepLinking(payload);
}

function readResourceLink(payload: JWTPayload): LaunchMessage {
  const parsed = resourceLinkClaims.safeParse(payload);
  if (parsed.success) return { kind: 'resourceLink', claims: parsed.data };
  const { id } = (payload[claim.resourceLink] ?? {}) as { id?: unknown };
  if (isNothing(id)) throw new LaunchFault('resource_link_missing');
  throw malformed(parsed.error);
}

function readDeepLinking(payload: JWTPayload): LaunchMessage {
  const parsed = deepLinkingClaims.safeParse(payload);
  if (parsed.success) return { kind: 'deepLinking', claims: parsed.data };
  throw malformed(parsed.error);
}

function malformed({ issues }: { issues: { path: PropertyKey[] }[] }): LaunchFault {
  return new LaunchFault('malformed_claims', { claims: issues.map(({ path }) => path.join(' ')) });
}

/** Addresses may be written in more than one way. */
function isAddressOf({ target }: Pick<LaunchState, 'target'>, given: unknown): boolean {
  return typeof given === 'string' && parseUrl(given) !== null && digestOfAddress(given) === target;
}
