import { z } from 'zod';
import type { LessonPage, ListedLesson } from '../../shared/models/lesson-list.ts';
import { maxCountedLearners } from '../../shared/models/lesson-uses.ts';
import type { LessonUses } from '../../shared/models/lesson-uses.ts';
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
        convertedFrom: z.string().nullable().meta({
          description: 'The format that it was imported from, such as `h5p`; null without a report.',
        }),
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

/** @param formats the formats that versions were converted from, by id */
export function presentVersions(
  versions: LessonVersion[],
  formats: ReadonlyMap<string, string>,
): z.input<typeof lessonVersions> {
  return {
    versions: versions.map(({ _id, versionNumber, status, publishedAt }) => ({
      id: _id,
      versionNumber,
      status,
      publishedAt: publishedAt?.toISOString() ?? null,
      convertedFrom: formats.get(_id) ?? null,
    })),
  };
}

/** Learners count as active for so long after their last activity. */
export const activeDays = 30;

export const lessonUses = z
  .strictObject({
    learners: z.strictObject({
      days: z.literal(activeDays),
      active: count,
      isMore: z.boolean().meta({ description: 'Whether there are more: the count ends there.' }),
    }),
    platforms: z
      .array(
        z.strictObject({
          platformId: uuid,
          name: z.string().nullable(),
          issuer: z.string().nullable().meta({ description: 'Null for a platform that was removed.' }),
          links: z.int().min(1).meta({ description: 'Links in courses that launched the lesson.' }),
          lastLaunchAt: time,
        }),
      )
      .meta({ description: 'Those with most links first, at most 100.' }),
  })
  .meta({ id: 'LessonUses' });

export function presentUses({ learners, platforms }: LessonUses): z.input<typeof lessonUses> {
  return {
    learners: { days: activeDays, active: learners, isMore: learners === maxCountedLearners },
    platforms: platforms.map(({ platformId, name, issuer, links, lastLaunchAt }) => ({
      ...{ platformId, name, issuer, links, lastLaunchAt: lastLaunchAt.toISOString() },
    })),
  };
}
