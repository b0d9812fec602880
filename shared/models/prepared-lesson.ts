import { Schema } from 'mongoose';
import type { Model, Types } from 'mongoose';
import { codeOf } from '../platform/errors.ts';
import { GzipText } from '../platform/gzip-text.ts';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import { fileOf, fromGzipParts, partsOf } from './gzip-parts.ts';

/**
 * The texts prepared once from a version's content: the lesson for players, its skeleton and chunks for the embed page,
 * facts for requests, and the media and widgets that it uses.
 */
export type PreparedKind = 'lesson' | 'skeleton' | 'facts' | 'uses' | ChunkKind;
export type ChunkKind = `chunk-${string}`;

/** The format of prepared lessons. Increment it with each change. */
export const preparedFormat = 13;

export interface PreparedText {
  kind: PreparedKind;
  /** The file of a {@link GzipText}. */
  file: Buffer;
}

/** A part of a prepared text, compressed JSON. */
export interface PreparedPart {
  versionId: string;
  /** The format of the prepared text. Lectern prepares texts of other formats again. */
  format: number;
  kind: string;
  part: number;
  /** The number of parts; a writer that died left fewer. */
  parts: number;
  data: Types.Buffer | Buffer;
}

export interface PreparedLessonDb {
  preparedParts: Model<PreparedPart>;
}

export const preparedPartSchema = new Schema<PreparedPart>(
  {
    versionId: { type: String, required: true },
    format: { type: Number, required: true },
    kind: { type: String, required: true },
    part: { type: Number, required: true },
    parts: { type: Number, required: true },
    data: { type: Buffer, required: true },
  },
  schemaOptions,
);
preparedPartSchema.index({ versionId: 1, format: 1, kind: 1, part: 1 }, { unique: true });

/** Returns a text of a version; null while it is missing or incomplete, or if parts do not fit together. */
export async function findPrepared(
  db: PreparedLessonDb,
  versionId: string,
  kind: PreparedKind,
): Promise<GzipText | null> {
  return textOf(await partsIn(db, { versionId, format: preparedFormat, kind }));
}

/** Deletes the texts of an import that failed. */
export async function deletePrepared(db: PreparedLessonDb, versionId: string): Promise<void> {
  await db.preparedParts.deleteMany({ versionId });
}

/**
 * Returns a chunk of a version. Its id depends only on its bytes, so pages that were open during an upgrade still load
 * chunks of an earlier format.
 */
export async function findChunk(
  db: PreparedLessonDb,
  versionId: string,
  kind: ChunkKind,
): Promise<GzipText | null> {
  const found = await partsIn(db, { versionId, kind });
  return textOf(found.filter(({ format }) => format === found[0]?.format));
}

function partsIn(
  db: PreparedLessonDb,
  filter: Pick<PreparedPart, 'versionId' | 'kind'> & { format?: number },
): Promise<PreparedPart[]> {
  return db.preparedParts.find(filter).sort({ format: 1, kind: 1, part: 1 }).lean<PreparedPart[]>().exec();
}

async function textOf(parts: PreparedPart[]): Promise<GzipText | null> {
  if (parts.length === 0 || parts.length !== parts[0]?.parts) return null;
  try {
    await fromGzipParts(parts);
    return new GzipText(fileOf(parts));
  } catch (error) {
    if (String(codeOf(error)).startsWith('Z_')) return null;
    throw error;
  }
}

/**
 * Stores or replaces a text of a version. Another release of Node may compress it to other bytes, so parts of two
 * writers may not fit together; a reader then prepares the version again.
 */
export async function savePrepared(
  db: PreparedLessonDb,
  versionId: string,
  { kind, file }: PreparedText,
): Promise<void> {
  const format = preparedFormat;
  const parts = partsOf(file);
  for (const [part, data] of parts.entries()) {
    await upsertSafely(() =>
      db.preparedParts.updateOne(
        { versionId, format, kind, part },
        { $set: { parts: parts.length, data } },
        { upsert: true },
      ),
    );
  }
  await db.preparedParts.deleteMany({ versionId, format, kind, part: { $gte: parts.length } });
}
