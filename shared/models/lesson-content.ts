import { Schema } from 'mongoose';
import type { Model, Types } from 'mongoose';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { schemaOptions } from '../platform/mongo.ts';
import { fromGzipParts, toGzipParts } from './gzip-parts.ts';

/** A part of a version's lesson.json, compressed; media references are `media:<uuid>`. */
export interface ContentPart {
  versionId: string;
  part: number;
  data: Types.Buffer | Buffer;
  createdAt: Date;
}

/** The part of the database that these operations use. */
export interface LessonContentDb {
  lessonContents: Model<ContentPart>;
}

export const lessonContentSchema = new Schema<ContentPart>(
  {
    versionId: { type: String, required: true },
    part: { type: Number, required: true },
    data: { type: Buffer, required: true },
    createdAt: { type: Date, required: true, default: () => new Date() },
  },
  schemaOptions,
);
lessonContentSchema.index({ versionId: 1, part: 1 }, { unique: true });

/** Stores the content of a version, before the version itself. It never changes afterwards. */
export async function insertContent(
  db: LessonContentDb,
  versionId: string,
  content: LessonContent,
): Promise<void> {
  const parts = await toGzipParts(JSON.stringify(content));
  for (const [part, data] of parts.entries()) await db.lessonContents.create({ versionId, part, data });
}

/** Returns the content of a version; null if there is none. */
export async function findContent(db: LessonContentDb, versionId: string): Promise<LessonContent | null> {
  const parts = await db.lessonContents
    .find({ versionId })
    .sort({ part: 1 })
    .lean<{ data: Types.Buffer }[]>()
    .exec();
  if (parts.length === 0) return null;
  return JSON.parse((await fromGzipParts(parts)).toString('utf8')) as LessonContent;
}

export async function deleteContent(db: LessonContentDb, versionId: string): Promise<void> {
  await db.lessonContents.deleteMany({ versionId });
}

/** Returns the version ids of contents from before a time without a version, because their imports did not finish. */
export async function listUnfinishedContent(db: LessonContentDb, before: Date): Promise<string[]> {
  const found = await db.lessonContents.aggregate<{ versionId: string }>([
    { $match: { part: 0, createdAt: { $lt: before } } },
    { $lookup: { from: 'lessonVersions', localField: 'versionId', foreignField: '_id', as: 'versions' } },
    { $match: { versions: [] } },
    { $project: { _id: 0, versionId: 1 } },
  ]);
  return found.map((content) => content.versionId);
}
