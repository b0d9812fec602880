import type { JWTPayload } from 'jose';
import {
  claim,
  deepLinkingClaims,
  isAbsent,
  ltiVersion,
  messageTypes,
  resourceLinkClaims,
} from '../../shared/lti/claims.ts';
import type { DeepLinkingClaims, ResourceLinkClaims } from '../../shared/lti/claims.ts';
import { LaunchFault } from './faults.ts';
import { digestOfUrl } from './launch-state.ts';
import type { LaunchState } from './launch-state.ts';
import { objectMembers } from '../../shared/platform/json-text.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';

export type LaunchMessage =
  | { kind: 'resourceLink'; claims: ResourceLinkClaims }
  | {
      kind: 'deepLinking';
      claims: DeepLinkingClaims;
      /** The platform's data as a JSON text: opaque to Lectern, and returned unchanged. */
      data: string | undefined;
    };

/** The language and return link that the platform wants for its user, if it sends them. */
export interface LaunchPresentation {
  locale?: string | undefined;
  /** Unchecked: it may not be a URL for browsers. */
  returnUrl?: string | undefined;
}

export function presentationOf(claims: LaunchMessage['claims']): LaunchPresentation {
  const { locale, return_url: returnUrl } = claims[claim.launchPresentation] ?? {};
  return { locale, returnUrl };
}

/**
 * Reads the message of a verified id_token.
 *
 * @param payload its claims.
 * @param login has the target that the launch must have.
 * @throws {LaunchFault}
 */
export function readMessage(
  idToken: string,
  payload: JWTPayload,
  login: Pick<LaunchState, 'target'>,
): LaunchMessage {
  const { [claim.version]: version, [claim.messageType]: type } = payload;
  if (version !== ltiVersion) throw new LaunchFault('wrong_version', { sent: version });
  if (type !== messageTypes.resourceLink && type !== messageTypes.deepLinking) {
    throw new LaunchFault('wrong_message_type', { sent: type });
  }
  const target = payload[claim.targetLinkUri];
  // Deep linking has no link yet, so the target is optional there.
  const mayLackTarget = isAbsent(target) && type === messageTypes.deepLinking;
  if (!mayLackTarget && !isTargetOf(login, target)) throw new LaunchFault('target_mismatch');
  return type === messageTypes.resourceLink ? readResourceLink(payload) : readDeepLinking(idToken, payload);
}

function readResourceLink(payload: JWTPayload): LaunchMessage {
  const parsed = resourceLinkClaims.safeParse(payload);
  if (parsed.success) return { kind: 'resourceLink', claims: parsed.data };
  const { id } = (payload[claim.resourceLink] ?? {}) as { id?: unknown };
  if (isAbsent(id)) throw new LaunchFault('resource_link_missing');
  throw malformed(parsed.error);
}

function readDeepLinking(idToken: string, payload: JWTPayload): LaunchMessage {
  const parsed = deepLinkingClaims.safeParse(payload);
  if (!parsed.success) throw malformed(parsed.error);
  const [, part = ''] = idToken.split('.');
  const members = objectMembers(Buffer.from(part, 'base64url').toString());
  const settings = objectMembers(members.get(claim.deepLinkingSettings) ?? '{}');
  return { kind: 'deepLinking', claims: parsed.data, data: settings.get('data') };
}

function malformed({ issues }: { issues: { path: PropertyKey[] }[] }): LaunchFault {
  return new LaunchFault('malformed_claims', { claims: issues.map(({ path }) => path.join(' ')) });
}

/** Compares normalized URLs. */
function isTargetOf({ target }: Pick<LaunchState, 'target'>, given: unknown): boolean {
  return typeof given === 'string' && parseUrl(given) !== null && digestOfUrl(given) === target;
}
