import { Schema } from 'mongoose';
import type { Model, Types } from 'mongoose';
import { toGzip } from '../platform/gzip-pieces.ts';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import type { Digest } from '../storage/store.ts';
import { fromGzipParts } from './gzip-parts.ts';

/** A file of an archive that the store also has as a blob, so that a signed URL can name it. */
export interface ExportEntry extends Digest {
  /** Below the archive's top-level folder. */
  path: string;
  area: 'assets' | 'cache';
  /** The type in manifest.json, if it differs from the declared one. */
  mimeType?: string;
}

/** The result of the first complete build of a version in one profile, which later builds repeat. */
export interface ExportRecord {
  exportKey: string;
  /** SHA-256 over the path, size and SHA-256 of every entry but manifest.json. */
  contentDigest: string;
  exportedAt: Date;
  archive: { size: number; sha256: string };
  /** Every file of the archive in its order, with lesson.json and manifest.json last. */
  entries: ExportEntry[];
}

/**
 * A stored record. It begins as a claim, which fixes the time of the first archive with exactly this content, so that
 * concurrent builds make the same bytes. The end of the first build completes it.
 */
export interface StoredExportRecord {
  exportKey: string;
  contentDigest: string;
  exportedAt: Date;
  /** Null until complete. The newest complete record of an export counts. */
  completedAt: Date | null;
  archive: { size: number; sha256: string } | null;
  /**
   * Compressed JSON with about 75 bytes per entry: a package may have 100,000 entries, and MongoDB limits documents to
   * 16 MB.
   */
  entries: Types.Buffer | Buffer | null;
  /** The organization of the lesson, whose records are limited. */
  organizationId: string;
  /** The last build, or the last sweep that found the archive. */
  usedAt: Date;
  /** Its approximate size in the database. */
  bytes: number;
}

/** The size of a record without its entries, but with its indexes. */
const baseBytes = 4096;

export interface ExportRecordDb {
  exportRecords: Model<StoredExportRecord>;
}

export const exportRecordSchema = new Schema<StoredExportRecord>(
  {
    exportKey: { type: String, required: true },
    contentDigest: { type: String, required: true },
    exportedAt: { type: Date, required: true },
    completedAt: { type: Date, default: null },
    archive: { type: { size: Number, sha256: String }, _id: false, default: null },
    entries: { type: Buffer, default: null },
    organizationId: { type: String, required: true },
    usedAt: { type: Date, required: true },
    bytes: { type: Number, default: baseBytes },
  },
  schemaOptions,
);
exportRecordSchema.index({ exportKey: 1, contentDigest: 1 }, { unique: true });
exportRecordSchema.index({ exportKey: 1, completedAt: -1 });
// Includes the size, so that summing up an organization's records reads no documents.
exportRecordSchema.index({ organizationId: 1, usedAt: 1, bytes: 1 });
exportRecordSchema.index({ usedAt: 1 });

/** Selects the complete records of an export. */
const completeOf = (exportKey: string) => ({ exportKey, completedAt: { $ne: null } });
const youngestFirst = { completedAt: -1 } as const;

/**
 * Returns the time that archives with this content contain: the time of the first caller.
 *
 * @param claim.exportedAt the time for the first caller. A rebuild passes the time of the record that it repeats,
 * because that record may have been removed since.
 */
export async function claimExportTime(
  db: ExportRecordDb,
  {
    exportKey,
    contentDigest,
    exportedAt,
    organizationId,
  }: Pick<BuiltExport, 'exportKey' | 'contentDigest' | 'exportedAt' | 'organizationId'>,
): Promise<Date> {
  const record = await upsertSafely(() =>
    db.exportRecords
      .findOneAndUpdate(
        { exportKey, contentDigest },
        { $set: { organizationId, usedAt: new Date() }, $setOnInsert: { exportedAt } },
        { upsert: true, returnDocument: 'after' },
      )
      .select({ exportedAt: 1 })
      .lean<StoredExportRecord>()
      .exec(),
  );
  return record.exportedAt;
}

/** Returns the record of an export; null before its first complete build. */
export async function findExportRecord(db: ExportRecordDb, exportKey: string): Promise<ExportRecord | null> {
  const found = await db.exportRecords
    .findOne(completeOf(exportKey))
    .sort(youngestFirst)
    .lean<StoredExportRecord>()
    .exec();
  return found === null ? null : fromStored(found);
}

/** The result of a build. Entries are iterable, because an archive may have 100,000. */
export interface BuiltExport extends Omit<ExportRecord, 'entries'> {
  entries: Iterable<ExportEntry>;
  /** The organization of the lesson. */
  organizationId: string;
}

/**
 * Writes the record of a complete build, before its archive is published. It replaces records of other content.
 */
export async function saveExportRecord(db: ExportRecordDb, record: BuiltExport): Promise<void> {
  const { exportKey, contentDigest, exportedAt, archive, organizationId } = record;
  const entries = await toGzip(entriesJson(record.entries));
  const now = new Date();
  const bytes = baseBytes + entries.byteLength;
  await upsertSafely(() =>
    db.exportRecords.updateOne(
      { exportKey, contentDigest },
      {
        $set: { completedAt: now, archive, entries, organizationId, usedAt: now, bytes },
        $setOnInsert: { exportedAt },
      },
      { upsert: true },
    ),
  );
  await db.exportRecords.deleteMany({
    ...completeOf(exportKey),
    contentDigest: { $ne: contentDigest },
  });
}

function* entriesJson(entries: Iterable<ExportEntry>): Generator<string> {
  let before = '[';
  for (const entry of entries) {
    yield `${before}${JSON.stringify(entry)}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/**
 * Returns the record of an archive; null if there is none.
 *
 * @param archive its digest, and the keys under which it may have been built.
 */
export async function findArchiveRecord(
  db: ExportRecordDb,
  { exportKeys, sha256 }: { exportKeys: readonly string[]; sha256: string },
): Promise<ExportRecord | null> {
  const found = await db.exportRecords
    .findOne({
      exportKey: { $in: [...exportKeys] },
      completedAt: { $ne: null },
      'archive.sha256': sha256,
    })
    .sort(youngestFirst)
    .lean<StoredExportRecord>()
    .exec();
  return found === null ? null : fromStored(found);
}

/** Deletes a record; the next build of its content writes another one with its own time. */
export async function deleteExportRecord(
  db: ExportRecordDb,
  { exportKey, contentDigest }: Pick<ExportRecord, 'exportKey' | 'contentDigest'>,
): Promise<void> {
  await db.exportRecords.deleteOne({ exportKey, contentDigest });
}

async function fromStored(stored: StoredExportRecord): Promise<ExportRecord | null> {
  const { exportKey, contentDigest, exportedAt, archive, entries } = stored;
  if (archive === null || entries === null) return null;
  const text = await fromGzipParts([{ data: entries }]);
  return {
    exportKey,
    contentDigest,
    exportedAt,
    archive,
    entries: JSON.parse(text.toString('utf8')) as ExportEntry[],
  };
}
