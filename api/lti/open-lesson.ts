import { headerOrigin } from '../../shared/platform/parse-url.ts';
import { claim, customParameters, noColumn } from '../../shared/lti/claims.ts';
import type { ResourceLinkClaims } from '../../shared/lti/claims.ts';
import { registerLineItem } from '../../shared/lti/scores/register-line-item.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { saveResourceLink } from '../../shared/models/lti-resource-link.ts';
import type { DescribedLink } from '../../shared/models/lti-resource-link.ts';
import { signLaunchToken } from '../../shared/tokens/player-tokens.ts';
import type { LaunchToken } from '../../shared/tokens/player-tokens.ts';
import type { LtiDependencies } from './dependencies.ts';
import { findLesson } from './find-lesson.ts';
import type { LaunchedLesson } from './find-lesson.ts';
import { presentationOf } from './read-message.ts';
import { untrackedRole } from './roles.ts';

/** How long a learner can play and save after a launch: a working day. */
const tokenSeconds = 8 * 3600;

interface OpenLesson {
  lessonId: string;
  token: string;
  untracked: LaunchToken['untracked'];
}

/**
 * Signs the token for the lesson of a verified launch, and stores the launch's resource link.
 *
 * @throws {LaunchFault} when there is no such lesson.
 */
export async function openLesson(
  { db, secrets }: Pick<LtiDependencies, 'db' | 'secrets'>,
  platform: LtiPlatform,
  claims: ResourceLinkClaims,
): Promise<OpenLesson> {
  const lesson = await findLesson(db, platform, claims);
  const { sub: ltiUserId = '' } = claims;
  const contextId = claims[claim.context]?.id ?? null;
  const untracked = untrackedReason(claims);
  const link = await saveResourceLink(db, linkOf(platform, claims, lesson));
  const sendsGrade = untracked === undefined && (await registerLineItem(db, link, ltiUserId));
  const { token } = signLaunchToken(
    secrets.signing,
    {
      organizationId: platform.organizationId,
      platformId: platform._id,
      ...lesson,
      ltiUserId,
      contextId,
      untracked,
      ...(sendsGrade && { sendsGrade }),
      ...presentation(platform, claims),
    },
    tokenSeconds,
  );
  return { lessonId: lesson.lessonId, token, untracked };
}

function untrackedReason(claims: ResourceLinkClaims): LaunchToken['untracked'] {
  return untrackedRole(claims[claim.roles]) ?? (claims.sub === undefined ? 'anonymous' : undefined);
}

function linkOf(
  { organizationId, _id: platformId }: LtiPlatform,
  claims: ResourceLinkClaims,
  lesson: LaunchedLesson,
): DescribedLink {
  const grades = claims[claim.gradeService];
  return {
    organizationId,
    platformId,
    deploymentId: claims[claim.deploymentId],
    resourceLinkId: claims[claim.resourceLink].id,
    contextId: claims[claim.context]?.id ?? null,
    ...lesson,
    ...(grades !== undefined && {
      lineItemUrl: grades.lineitem ?? null,
      lineItemsUrl: grades.lineitems ?? null,
      scopes: grades.scope,
    }),
    withoutColumn: claims[claim.custom]?.[customParameters.column] === noColumn,
    lastLaunchAt: new Date(),
  };
}

/** Returns the language, return link and frame origins that the platform wants. */
function presentation(
  { issuer, authUrl }: Pick<LtiPlatform, 'issuer' | 'authUrl'>,
  claims: ResourceLinkClaims,
): Pick<LaunchToken, 'locale' | 'returnUrl' | 'platformOrigins'> {
  const { locale, returnUrl } = presentationOf(claims);
  return {
    locale: languageTag(locale),
    returnUrl,
    platformOrigins: originsOf([issuer, authUrl, returnUrl]),
  };
}

/** Returns a BCP 47 language tag, undefined if there is none. Some platforms write en_GB. */
function languageTag(locale = ''): string | undefined {
  try {
    return Intl.getCanonicalLocales(locale.replaceAll('_', '-'))[0];
  } catch {
    return undefined;
  }
}

/** Returns the distinct origins of URLs; skips texts without an origin that a header may contain. */
export function originsOf(urls: readonly (string | undefined)[]): string[] {
  return [...new Set(urls.flatMap((url) => headerOrigin(url ?? '') ?? []))];
}
