import { Schema } from 'mongoose';
import type { Types } from 'mongoose';
import { isDuplicate, schemaOptions } from '../mongo.ts';
import type { Database } from './database.ts';
import { fromGzipParts, toGzipParts } from './gzip-parts.ts';

/** What is made once of a version's content: the lesson as players get it, and the facts that requests ask for. */
export const preparedKinds = ['lesson', 'facts'] as const;
export type PreparedKind = (typeof preparedKinds)[number];

/** A piece of it, compressed JSON. */
export interface PreparedPart {
  versionId: string;
  /** How it was made: another number makes it anew. */
  format: number;
  kind: PreparedKind;
  part: number;
  /** Of how many; a writer that died left fewer. */
  parts: number;
  data: Types.Buffer | Buffer;
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

/** The JSON texts of a version, in UTF-8; null while they are not there, or not whole. */
export async function findPrepared(
  db: Database,
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
  const [lesson, facts] = await Promise.all([
    fromGzipParts(partsOf('lesson')),
    fromGzipParts(partsOf('facts')),
  ]);
  return { lesson, facts };
}

/** Keeps the texts of a version. The same content makes the same texts, so it may happen twice without harm. */
export async function savePrepared(
  db: Database,
  versionId: string,
  format: number,
  texts: Record<PreparedKind, string>,
): Promise<void> {
  for (const kind of preparedKinds) {
    const parts = await toGzipParts(texts[kind]);
    for (const [part, data] of parts.entries()) {
      try {
        await db.preparedParts.create({ versionId, format, kind, part, parts: parts.length, data });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    }
  }
}
