import { z } from 'zod';
import type { LessonPage, ListedLesson } from '../../shared/models/lesson-list.ts';
import { versionStatuses } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { count, time, uuid } from '../http/responses.ts';

export const listedLesson = z
  .strictObject({
    id: uuid,
    slug: z.string(),
    title: z.string(),
    status: z.enum(versionStatuses),
    latestVersion: z
      .strictObject({ id: uuid, versionNumber: z.int().min(1), publishedAt: time })
      .nullable()
      .meta({ description: 'The published version with the latest publication.' }),
    totalSections: count,
    totalSteps: count,
    updatedAt: time,
  })
  .meta({ id: 'ListedLesson' });

export const lessonPage = z
  .strictObject({
    lessons: z.array(listedLesson),
    nextCursor: z.string().nullable().meta({ description: 'The cursor of the next page; null on the last.' }),
  })
  .meta({ id: 'LessonPage' });

export const lessonVersions = z
  .strictObject({
    versions: z.array(
      z.strictObject({
        id: uuid,
        versionNumber: z.int().min(1),
        status: z.enum(versionStatuses),
        publishedAt: time.nullable().meta({ description: 'Null for a version that was never published.' }),
      }),
    ),
  })
  .meta({ id: 'LessonVersions' });

/** @param nextCursor the cursor of the next page; null on the last */
export function presentLessonPage(
  { lessons }: LessonPage,
  nextCursor: string | null,
): z.input<typeof lessonPage> {
  return { lessons: lessons.map(presentListedLesson), nextCursor };
}

export function presentListedLesson({
  lesson,
  status,
  latest,
  shown,
}: ListedLesson): z.input<typeof listedLesson> {
  const { _id, slug, title, updatedAt } = lesson;
  return {
    id: _id,
    slug,
    title,
    status,
    latestVersion: latest === null ? null : presentLatest(latest),
    totalSections: shown?.totalSections ?? 0,
    totalSteps: shown?.totalSteps ?? 0,
    updatedAt: updatedAt.toISOString(),
  };
}

function presentLatest({ _id, versionNumber, publishedAt }: LessonVersion) {
  // Published versions have a time of publication.
  return { id: _id, versionNumber, publishedAt: publishedAt?.toISOString() ?? '' };
}

export function presentVersions(versions: LessonVersion[]): z.input<typeof lessonVersions> {
  return {
    versions: versions.map(({ _id, versionNumber, status, publishedAt }) => ({
      id: _id,
      versionNumber,
      status,
      publishedAt: publishedAt?.toISOString() ?? null,
    })),
  };
}
