import { Schema } from 'mongoose';
import type { Model, Types } from 'mongoose';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { schemaOptions } from '../platform/mongo.ts';
import { LecternError } from '../platform/errors.ts';
import { fileOf, parseContent } from './gzip-parts.ts';
import type { LessonVersion } from './lesson-version.ts';

/** A part of a version's lesson.json, compressed; media references are `media:<uuid>`. */
export interface ContentPart {
  versionId: string;
  part: number;
  data: Types.Buffer | Buffer;
  /** Since when the first part may have no version, because its import has not finished; null once it has one. */
  unfinishedSince: Date | null;
}

export interface LessonContentDb {
  lessonContents: Model<ContentPart>;
}

export const lessonContentSchema = new Schema<ContentPart>(
  {
    versionId: { type: String, required: true },
    part: { type: Number, required: true },
    data: { type: Buffer, required: true },
    unfinishedSince: { type: Date, default: null },
  },
  schemaOptions,
);
lessonContentSchema.index({ versionId: 1, part: 1 }, { unique: true });
lessonContentSchema.index(
  { unfinishedSince: 1 },
  { partialFilterExpression: { unfinishedSince: { $type: 'date' } } },
);

/** Unfinished imports per sweep. */
const unfinishedBatch = 1000;

/**
 * Stores the content of a version, before the version itself; {@link markContentFinished} must follow. It never changes
 * afterward.
 *
 * @param parts as {@link contentParts} returns them
 */
export async function insertContent(
  db: LessonContentDb,
  versionId: string,
  parts: readonly Buffer[],
): Promise<void> {
  for (const [part, data] of parts.entries()) {
    const unfinishedSince = part === 0 ? new Date() : null;
    await db.lessonContents.create({ versionId, part, data, unfinishedSince });
  }
}

/** Records that the version of a content exists. */
export async function markContentFinished(db: LessonContentDb, versionId: string): Promise<void> {
  await db.lessonContents.updateOne({ versionId, part: 0 }, { unfinishedSince: null });
}

/** Returns the parts of a version's content, for {@link parseContent}; null if there are none. */
export async function findContentParts(db: LessonContentDb, versionId: string): Promise<Buffer[] | null> {
  const parts = await db.lessonContents
    .find({ versionId })
    .sort({ part: 1 })
    .lean<{ data: Types.Buffer }[]>()
    .exec();
  return parts.length === 0 ? null : parts.map(({ data }) => fileOf([{ data }]));
}

/** Returns the parts as {@link findContentParts} does. @throws {LecternError} NOT_FOUND if there are none */
export async function requireContentParts(
  db: LessonContentDb,
  version: Pick<LessonVersion, '_id' | 'versionNumber'>,
): Promise<Buffer[]> {
  return (await findContentParts(db, version._id)) ?? missingContent(version);
}

/** @throws {LecternError} NOT_FOUND */
export function missingContent({ versionNumber }: Pick<LessonVersion, 'versionNumber'>): never {
  throw new LecternError('NOT_FOUND', `The content of version ${versionNumber} is missing.`);
}

/** Returns the content of a version; null if there is none. */
export async function findContent(db: LessonContentDb, versionId: string): Promise<LessonContent | null> {
  const parts = await findContentParts(db, versionId);
  return parts && parseContent(parts);
}

export async function deleteContent(db: LessonContentDb, versionId: string): Promise<void> {
  await db.lessonContents.deleteMany({ versionId });
}

/** Returns the version ids of contents whose imports began before a time and have not finished. */
export async function listUnfinishedContent(db: LessonContentDb, before: Date): Promise<string[]> {
  const found = await db.lessonContents
    .find({ unfinishedSince: { $type: 'date', $lt: before } })
    .select({ versionId: 1 })
    .limit(unfinishedBatch)
    .lean<{ versionId: string }[]>()
    .exec();
  return found.map(({ versionId }) => versionId);
}
