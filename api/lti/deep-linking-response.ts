import { randomBytes } from 'node:crypto';
import { CompactSign } from 'jose';
import { claim, customParameters, ltiVersion, messageTypes, noColumn } from '../../shared/lti/claims.ts';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import { lineItemTag } from '../../shared/lti/scores/line-item.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { printJson, RawJson } from '../../shared/platform/raw-json.ts';
import { fullMarks } from '../../shared/progress/points.ts';
import type { Selection } from './selections.ts';

/** Allows for users who have to click the button that posts the response. */
const ttlSeconds = 600;

export interface ChosenItem {
  version: LessonVersion;
  /** Whether launches open this version instead of the newest. */
  isPinned: boolean;
  /** Whether the lesson gets a gradebook column; null if the page did not offer one. */
  hasColumn: boolean | null;
}

/**
 * Signs an LtiDeepLinkingResponse (LTI Deep Linking 2.0).
 *
 * @param items empty after a cancellation.
 * @param baseUrl Lectern's own URL.
 */
export async function deepLinkingResponse(
  { keys }: { keys: LtiKeys },
  { clientId, issuer, keySetId }: Pick<LtiPlatform, 'clientId' | 'issuer' | 'keySetId'>,
  { deploymentId, data }: Pick<Selection, 'deploymentId' | 'data'>,
  items: readonly ChosenItem[],
  baseUrl: string,
): Promise<string> {
  const { kid, privateKey } = await keys.signer(keySetId);
  const issuedAt = Math.floor(Date.now() / 1000);
  const payload = printJson({
    iss: clientId,
    aud: issuer,
    iat: issuedAt,
    exp: issuedAt + ttlSeconds,
    nonce: randomBytes(16).toString('base64url'),
    [claim.messageType]: messageTypes.deepLinkingResponse,
    [claim.version]: ltiVersion,
    [claim.deploymentId]: deploymentId,
    [claim.contentItems]: items.map((item) => contentItem(item, baseUrl)),
    ...(data !== undefined && { [claim.deepLinkingData]: new RawJson(data) }),
  });
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
    .sign(privateKey);
}

/** Describes a link. The platform fills in its variables at each launch; through them copied courses find lessons. */
function contentItem({ version, isPinned, hasColumn }: ChosenItem, baseUrl: string) {
  const { _id: versionId, lessonId, title } = version;
  return {
    type: 'ltiResourceLink',
    title,
    url: `${baseUrl}/lti/launch?lesson=${lessonId}`,
    custom: {
      [customParameters.lessonId]: lessonId,
      ...(isPinned && { [customParameters.versionId]: versionId }),
      [customParameters.resourceLinkHistory]: '$ResourceLink.id.history',
      [customParameters.contextHistory]: '$Context.id.history',
      ...(hasColumn === false && { [customParameters.column]: noColumn }),
    },
    ...(hasColumn === true && {
      lineItem: { scoreMaximum: fullMarks, label: title, resourceId: lessonId, tag: lineItemTag },
    }),
  };
}
