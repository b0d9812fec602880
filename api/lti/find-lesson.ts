import { z } from 'zod';
import { claim, customParameters } from '../../shared/lti/claims.ts';
import type { ResourceLinkClaims } from '../../shared/lti/claims.ts';
import type { Database } from '../../shared/models/database.ts';
import { lessonExists } from '../../shared/models/lesson.ts';
import { findPlayedVersion } from '../../shared/models/lesson-version.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { findResourceLinks } from '../../shared/models/lti-resource-link.ts';
import type { LtiResourceLink } from '../../shared/models/lti-resource-link.ts';
import { LaunchFault } from './faults.ts';

/** A lesson, and the version that is pinned, if any. */
export interface LaunchedLesson {
  lessonId: string;
  versionId: string | null;
}

/** More copies of copies than this are not looked through. */
const mostCopies = 50;

const uuid = z.guid().toLowerCase();

/**
 * The lesson of a launch: the one that deep linking wrote into the link, else the one in the link's address, else what
 * this link led to before, else what the links led to that it was copied from.
 *
 * @throws {LaunchFault} no_lesson; lesson_not_found for one that the organization does not have, lesson_not_available
 *   for one that is not published.
 */
export async function findLesson(
  db: Database,
  platform: LtiPlatform,
  claims: ResourceLinkClaims,
): Promise<LaunchedLesson> {
  const lesson = namedLesson(claims) ?? (await rememberedLesson(db, platform, claims));
  if (lesson === null) throw new LaunchFault('no_lesson');
  const { organizationId } = platform;
  const lessonId = uuid.safeParse(lesson.lessonId).data;
  if (lessonId === undefined || !(await lessonExists(db, organizationId, lessonId))) {
    throw new LaunchFault('lesson_not_found', { lesson: lesson.lessonId });
  }
  const pinned = lesson.versionId === null ? null : uuid.safeParse(lesson.versionId).data;
  const version = pinned === undefined ? null : await findPlayedVersion(db, organizationId, lessonId, pinned);
  if (version === null) throw new LaunchFault('lesson_not_available', { ...lesson });
  return { lessonId, versionId: pinned ?? null };
}

function namedLesson(claims: ResourceLinkClaims): LaunchedLesson | null {
  const lessonId = parameter(claims, 'lessonId');
  if (lessonId !== undefined) return { lessonId, versionId: parameter(claims, 'versionId') ?? null };
  const inAddress = new URL(claims[claim.targetLinkUri]).searchParams.get('lesson');
  return inAddress === null || inAddress === '' ? null : { lessonId: inAddress, versionId: null };
}

async function rememberedLesson(
  db: Database,
  platform: LtiPlatform,
  claims: ResourceLinkClaims,
): Promise<LaunchedLesson | null> {
  const own = claims[claim.resourceLink].id;
  const ids = [own, ...history(parameter(claims, 'resourceLinkHistory'))];
  const contexts = [claims[claim.context]?.id, ...history(parameter(claims, 'contextHistory'))];
  const found = await findResourceLinks(db, platform, ids);
  // In another deployment an id may be that of another link, unless it is one of those that were copied: then the
  // one in the nearest of the courses that were.
  const isOfDeployment = (link: LtiResourceLink) => link.deploymentId === claims[claim.deploymentId];
  const distance = (link: LtiResourceLink) => {
    const place = contexts.indexOf(link.contextId ?? undefined);
    if (isOfDeployment(link)) return -1;
    return place === -1 ? contexts.length : place;
  };
  const nearest = found
    .filter((link) => link.resourceLinkId !== own || isOfDeployment(link))
    .toSorted(
      (a, b) => ids.indexOf(a.resourceLinkId) - ids.indexOf(b.resourceLinkId) || distance(a) - distance(b),
    );
  return nearest[0] ?? null;
}

/** A custom parameter; undefined without it, and where the platform does not know the variable that it stands for. */
function parameter(claims: ResourceLinkClaims, name: keyof typeof customParameters): string | undefined {
  const value = claims[claim.custom]?.[customParameters[name]]?.trim();
  return value === undefined || value === '' || value.startsWith('$') ? undefined : value;
}

/** Ids between commas, the nearest first, each of them percent-encoded (LTI 1.3, "ResourceLink.id.history"). */
function history(text = ''): string[] {
  return text
    .split(',')
    .slice(0, mostCopies)
    .map((id) => decoded(id.trim()))
    .filter((id) => id !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
