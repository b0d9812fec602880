import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { findLesson } from '../../shared/models/lesson.ts';
import type { Lesson } from '../../shared/models/lesson.ts';
import { listVersions } from '../../shared/models/lesson-version.ts';
import type { LessonVersion, VersionStatus } from '../../shared/models/lesson-version.ts';
import { table } from '../terminal/output.ts';

export interface LessonWithVersions {
  lesson: Lesson;
  /** Sorted by number. */
  versions: LessonVersion[];
}

/** @throws {LecternError} NOT_FOUND for an unknown or deleted lesson */
export async function findLessonVersions(db: Database, lessonId: string): Promise<LessonWithVersions> {
  const lesson = await findLesson(db, lessonId);
  if (lesson === null || lesson.deletedAt !== null) {
    throw new LecternError('NOT_FOUND', `There is no lesson ${lessonId}. See: lectern lesson list`);
  }
  return { lesson, versions: await listVersions(db, [lessonId]) };
}

/**
 * Returns the version with this number, by default the newest.
 *
 * @throws {LecternError} NOT_FOUND
 */
export function findVersionNumbered(
  { lesson, versions }: LessonWithVersions,
  number?: number,
): LessonVersion {
  const version =
    number === undefined ? versions.at(-1) : versions.find((one) => one.versionNumber === number);
  if (version !== undefined) return version;
  const known = versions.map((one) => one.versionNumber).join(', ');
  const which = number === undefined ? 'version yet' : `version ${number}; it has ${known || 'none'}`;
  throw new LecternError('NOT_FOUND', `${lesson.slug} has no ${which}.`);
}

/** Returns the published version with the latest publication. */
export function latestPublished({ versions }: LessonWithVersions): LessonVersion | null {
  const published = versions.filter((version) => version.status === 'published');
  return published.sort((a, b) => Number(a.publishedAt) - Number(b.publishedAt)).at(-1) ?? null;
}

/** Returns the status of a lesson: published if a version is, else unpublished if a version was, else draft. */
function statusOf({ versions }: LessonWithVersions): VersionStatus {
  const statuses = versions.map(({ status }) => status);
  if (statuses.includes('published')) return 'published';
  return statuses.includes('unpublished') ? 'unpublished' : 'draft';
}

export function presentLesson(found: LessonWithVersions) {
  const { lesson, versions } = found;
  const latest = latestPublished(found);
  const shown = latest ?? versions.at(-1);
  return {
    id: lesson._id,
    slug: lesson.slug,
    title: lesson.title,
    status: statusOf(found),
    latestVersion:
      latest === null
        ? null
        : { id: latest._id, versionNumber: latest.versionNumber, publishedAt: latest.publishedAt },
    totalSections: shown?.totalSections ?? 0,
    totalSteps: shown?.totalSteps ?? 0,
    updatedAt: lesson.updatedAt,
    versions: versions.map(({ _id, versionNumber, status, publishedAt }) => ({
      id: _id,
      versionNumber,
      status,
      publishedAt,
    })),
  };
}

export function describeLesson(found: LessonWithVersions): string {
  const { lesson, versions } = found;
  const lines = versions.map(
    ({ versionNumber, status, _id }) => `  version ${versionNumber}: ${status}  ${_id}`,
  );
  return [`${lesson.title} (${lesson._id})`, ...lines].join('\n');
}

export function lessonTable(lessons: LessonWithVersions[]): string {
  const rows = lessons
    .map(presentLesson)
    .map((lesson) => [
      lesson.id,
      lesson.slug,
      lesson.status,
      lesson.latestVersion === null ? '-' : String(lesson.latestVersion.versionNumber),
      String(lesson.totalSteps),
      lesson.title,
    ]);
  return table(['ID', 'SLUG', 'STATUS', 'LATEST', 'STEPS', 'TITLE'], rows);
}
