import { Schema } from 'mongoose';
import type { Model, Types } from 'mongoose';
import { codeOf } from '../platform/errors.ts';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import { fromGzipParts, toGzipParts } from './gzip-parts.ts';

/** The texts prepared once from a version's content: the lesson for players, and facts for requests. */
export const preparedKinds = ['lesson', 'facts'] as const;
export type PreparedKind = (typeof preparedKinds)[number];

/** A part of a prepared text, compressed JSON. */
export interface PreparedPart {
  versionId: string;
  /** The format of the preparation; another number prepares it again. */
  format: number;
  kind: PreparedKind;
  part: number;
  /** The number of parts; a writer that died left fewer. */
  parts: number;
  data: Types.Buffer | Buffer;
}

/** The part of the database that these operations use. */
export interface PreparedLessonDb {
  preparedParts: Model<PreparedPart>;
}

export const preparedPartSchema = new Schema<PreparedPart>(
  {
    versionId: { type: String, required: true },
    format: { type: Number, required: true },
    kind: { type: String, required: true, enum: preparedKinds },
    part: { type: Number, required: true },
    parts: { type: Number, required: true },
    data: { type: Buffer, required: true },
  },
  schemaOptions,
);
preparedPartSchema.index({ versionId: 1, format: 1, kind: 1, part: 1 }, { unique: true });

/**
 * Returns the JSON texts of a version, in UTF-8; null while they are missing or incomplete, or if parts do not fit
 * together. Another release of Node may compress the same text to other bytes.
 */
export async function findPrepared(
  db: PreparedLessonDb,
  versionId: string,
  format: number,
): Promise<Record<PreparedKind, Buffer> | null> {
  const found = await db.preparedParts
    .find({ versionId, format })
    .sort({ kind: 1, part: 1 })
    .lean<PreparedPart[]>()
    .exec();
  const partsOf = (kind: PreparedKind) => found.filter((part) => part.kind === kind);
  const isWhole = preparedKinds.every((kind) => partsOf(kind).length === (partsOf(kind)[0]?.parts ?? 1));
  if (!isWhole) return null;
  try {
    const [lesson, facts] = await Promise.all(preparedKinds.map((kind) => fromGzipParts(partsOf(kind))));
    return lesson !== undefined && facts !== undefined ? { lesson, facts } : null;
  } catch (error) {
    if (String(codeOf(error)).startsWith('Z_')) return null;
    throw error;
  }
}

/** Stores or replaces the texts of a version. Repeating it is harmless, because the texts are the same. */
export async function savePrepared(
  db: PreparedLessonDb,
  versionId: string,
  format: number,
  texts: Record<PreparedKind, string>,
): Promise<void> {
  for (const kind of preparedKinds) {
    const parts = await toGzipParts(texts[kind]);
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
}
