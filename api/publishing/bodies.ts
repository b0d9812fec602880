import { z } from 'zod';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { versionStatuses } from '../../shared/models/lesson-version.ts';
import type { VersionCheck } from '../../shared/publishing/check-version.ts';
import { time, uuid } from '../http/responses.ts';
import { playability } from '../player/bodies.ts';

const warnings = z.array(z.string()).meta({ description: 'One sentence for each missing part or mistake.' });

export const publishedVersion = z
  .strictObject({
    lessonId: uuid,
    versionId: uuid,
    versionNumber: z.int().min(1),
    slug: z.string(),
    status: z.enum(versionStatuses),
    publishedAt: time.nullable(),
    warnings,
  })
  .meta({ id: 'PublishedVersion' });

/** @param contentWarnings the warnings of the version's content. */
export function presentPublished(
  { lessonId, _id: versionId, versionNumber, slug, status, publishedAt }: LessonVersion,
  contentWarnings: string[],
): z.input<typeof publishedVersion> {
  const published = publishedAt?.toISOString() ?? null;
  return {
    lessonId,
    versionId,
    versionNumber,
    slug,
    status,
    publishedAt: published,
    warnings: contentWarnings,
  };
}

const placePart = z.strictObject({ id: z.string(), title: z.string() });
const checkWarning = z.strictObject({
  message: z.string(),
  place: z
    .strictObject({
      section: placePart,
      step: placePart,
      block: z.strictObject({
        id: z.string(),
        type: z.string(),
        text: z.string().meta({ description: 'The beginning of its text, without markup.' }),
      }),
    })
    .nullable()
    .meta({ description: 'The block, or the first of several; null for the lesson as a whole.' }),
});

export const versionCheck = z
  .strictObject({
    lessonId: uuid,
    versionId: uuid,
    versionNumber: z.int().min(1),
    playability,
    warnings: z.array(checkWarning).meta({ description: 'Missing parts and probable mistakes.' }),
    externalMedia: z
      .array(z.strictObject({ id: uuid, sourceUrl: z.string() }))
      .meta({ description: 'Media that are downloaded when the version is exported or played.' }),
  })
  .meta({ id: 'VersionCheck' });

export function presentCheck(
  { lessonId, _id: versionId, versionNumber }: LessonVersion,
  { errors, warnings: found, externalMedia }: VersionCheck,
): z.input<typeof versionCheck> {
  return {
    ...{ lessonId, versionId, versionNumber },
    playability: { valid: errors.length === 0, errors },
    ...{ warnings: found, externalMedia },
  };
}

export const previewLink = z
  .strictObject({
    lessonId: uuid,
    versionId: uuid,
    versionNumber: z.int().min(1),
    url: z.url().meta({ description: 'Plays the version and records nothing. The URL is the credential.' }),
    expiresAt: time,
  })
  .meta({ id: 'PreviewLink' });
