import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { claim, customParameters, ltiVersion, messageTypes, noColumn } from '../../shared/lti/claims.ts';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import { lineItemTag } from '../../shared/lti/scores/line-item.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { fullMarks } from '../../shared/progress/score.ts';
import type { Choice } from './choices.ts';

/** The page that carries the answer to the platform may wait for somebody to press its button. */
const lifeSeconds = 600;

/** A lesson as it is to be in the course. */
export interface ChosenItem {
  version: LessonVersion;
  /** Whether this version is to stay, instead of the newest at each launch. */
  isPinned: boolean;
  /** Whether it is to have a column in the gradebook; null where nobody was asked. */
  hasColumn: boolean | null;
}

/**
 * The answer to a platform, signed: LtiDeepLinkingResponse of LTI Deep Linking 2.0.
 *
 * @param items none when the choice was given up.
 * @param address Lectern's own.
 */
export async function deepLinkingResponse(
  { keys }: { keys: LtiKeys },
  { clientId, issuer }: Pick<LtiPlatform, 'clientId' | 'issuer'>,
  { deploymentId, data }: Pick<Choice, 'deploymentId' | 'data'>,
  items: readonly ChosenItem[],
  address: string,
): Promise<string> {
  const { kid, privateKey } = await keys.signer();
  return new SignJWT({
    nonce: randomBytes(16).toString('base64url'),
    [claim.messageType]: messageTypes.deepLinkingResponse,
    [claim.version]: ltiVersion,
    [claim.deploymentId]: deploymentId,
    [claim.contentItems]: items.map((item) => contentItem(item, address)),
    ...(data !== undefined && { [claim.deepLinkingData]: data }),
  })
    .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
    .setIssuer(clientId)
    .setAudience(issuer)
    .setIssuedAt()
    .setExpirationTime(`${lifeSeconds}s`)
    .sign(privateKey);
}

/** The variables are filled in by the platform at each launch: by them a copy of the course finds its lessons. */
function contentItem({ version, isPinned, hasColumn }: ChosenItem, address: string) {
  const { _id: versionId, lessonId, title } = version;
  return {
    type: 'ltiResourceLink',
    title,
    url: `${address}/lti/launch?lesson=${lessonId}`,
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
