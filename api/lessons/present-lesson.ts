import type { LessonPage, ListedLesson } from '../../shared/models/lesson-list.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';

/** @param nextCursor what asks for the next page; null at the end. */
export function presentLessonPage({ lessons }: LessonPage, nextCursor: string | null) {
  return { lessons: lessons.map(presentListedLesson), nextCursor };
}

function presentListedLesson({ lesson, status, latest, shown }: ListedLesson) {
  const { _id, slug, title, updatedAt } = lesson;
  return {
    id: _id,
    slug,
    title,
    status,
    latestVersion: latest === null ? null : presentLatest(latest),
    totalSections: shown?.totalSections ?? 0,
    totalSteps: shown?.totalSteps ?? 0,
    updatedAt,
  };
}

function presentLatest({ _id, versionNumber, publishedAt }: LessonVersion) {
  return { id: _id, versionNumber, publishedAt };
}

export function presentVersions(versions: LessonVersion[]) {
  return {
    versions: versions.map(({ _id, versionNumber, status, publishedAt }) => ({
      id: _id,
      versionNumber,
      status,
      publishedAt,
    })),
  };
}
