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

export interface LaunchedLesson {
  lessonId: string;
  /** The pinned version; null for the newest. */
  versionId: string | null;
}

/** The maximum length of a followed chain of copied links. */
const maxCopies = 50;

const uuid = z.guid().toLowerCase();

/**
 * Returns the lesson of a launch, from the first source that names one. The sources are the link's deep linking
 * parameters, the link's URL, an earlier launch of the link, and the original of a copied link.
 *
 * @throws {LaunchFault} no_lesson; lesson_not_found if the organization has no such lesson; lesson_not_available if it
 *   is not published.
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
  return lessonInUrl(new URL(claims[claim.targetLinkUri]));
}

/** Returns the lesson that a link's URL names: in the query, or in the path, as in cartridges. */
function lessonInUrl({ pathname, searchParams }: URL): LaunchedLesson | null {
  const inQuery = searchParams.get('lesson') ?? '';
  if (inQuery !== '') return { lessonId: inQuery, versionId: null };
  const [, lessonId, versionId = null] = /\/lti\/launch\/([^/]+)(?:\/([^/]+))?\/?$/.exec(pathname) ?? [];
  return lessonId === undefined ? null : { lessonId, versionId };
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
  // Link ids are unique within a deployment only. The link itself must therefore have this deployment. Among copied
  // links with equal ids, the one in this deployment takes precedence, then the one in the most recently copied course.
  const isOfDeployment = (link: LtiResourceLink) => link.deploymentId === claims[claim.deploymentId];
  const distance = (link: LtiResourceLink) => {
    const index = contexts.indexOf(link.contextId ?? undefined);
    if (isOfDeployment(link)) return -1;
    return index === -1 ? contexts.length : index;
  };
  const nearest = found
    .filter((link) => link.resourceLinkId !== own || isOfDeployment(link))
    .toSorted(
      (a, b) => ids.indexOf(a.resourceLinkId) - ids.indexOf(b.resourceLinkId) || distance(a) - distance(b),
    );
  return nearest[0] ?? null;
}

/** Returns a custom parameter; undefined without it, or if the platform left a variable ($…) unresolved. */
function parameter(claims: ResourceLinkClaims, name: keyof typeof customParameters): string | undefined {
  const value = claims[claim.custom]?.[customParameters[name]]?.trim();
  return value === undefined || value === '' || value.startsWith('$') ? undefined : value;
}

/** Parses a comma-separated list of percent-encoded ids, the latest first (LTI 1.3, "ResourceLink.id.history"). */
function history(text = ''): string[] {
  return text
    .split(',')
    .slice(0, maxCopies)
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
