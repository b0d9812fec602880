import { Schema } from 'mongoose';
import type { Model, Types } from 'mongoose';
import { toGzip } from '../platform/gzip-texts.ts';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';
import type { Digest } from '../storage/store.ts';
import { fromGzipParts } from './gzip-parts.ts';

/** A file of an archive, which the store also has as a blob: what a signed address may name. */
export interface ExportEntry extends Digest {
  /** Below the archive's top-level folder. */
  path: string;
  area: 'assets' | 'cache';
  /** The type that manifest.json names, where it is not the declared one. */
  mimeType?: string;
}

/** What the first complete build of a version in one profile made: a fact that later builds repeat. */
export interface ExportRecord {
  exportKey: string;
  /** SHA-256 over the path, size and SHA-256 of every entry but manifest.json. */
  contentDigest: string;
  exportedAt: Date;
  archive: { size: number; sha256: string };
  /** Every file of the archive in its order, so lesson.json and manifest.json last. */
  entries: ExportEntry[];
  /** Until when addresses are signed that name the entries; null when none ever was. */
  signedUntil: Date | null;
}

/**
 * A record as it is stored. First it is a claim: when an archive with exactly this content was first made, so that
 * builds at the same time carry the same time and make the same bytes. It is complete when one of them has ended.
 */
export interface StoredExportRecord {
  exportKey: string;
  contentDigest: string;
  exportedAt: Date;
  /** Null until it is complete. Of an export's complete records the youngest counts. */
  completedAt: Date | null;
  archive: { size: number; sha256: string } | null;
  /** Compressed JSON: some 75 bytes an entry, and a package may have 100,000 files. A document ends at 16 MB. */
  entries: Types.Buffer | Buffer | null;
  signedUntil: Date | null;
  /** When addresses were signed last. */
  signedAt: Date | null;
  /** The organization that got signed URLs, whose share of the store the files count towards. */
  signedFor?: string | null;
}

/** The part of the database that these operations use. */
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
    signedUntil: { type: Date, default: null },
    signedAt: { type: Date, default: null },
    // Records of earlier releases have none.
    signedFor: { type: String, default: null },
  },
  schemaOptions,
);
exportRecordSchema.index({ exportKey: 1, contentDigest: 1 }, { unique: true });
exportRecordSchema.index({ signedUntil: 1, signedAt: 1 });

/** Those that count, of one export. */
const completeOf = (exportKey: string) => ({ exportKey, completedAt: { $ne: null } });
const youngestFirst = { completedAt: -1 } as const;

/** The time that archives of this content carry: the first caller's, for all who come later. */
export async function claimExportTime(
  db: ExportRecordDb,
  exportKey: string,
  contentDigest: string,
): Promise<Date> {
  const record = await upsertSafely(() =>
    db.exportRecords
      .findOneAndUpdate(
        { exportKey, contentDigest },
        { $setOnInsert: { exportedAt: new Date() } },
        { upsert: true, returnDocument: 'after' },
      )
      .select({ exportedAt: 1 })
      .lean<StoredExportRecord>()
      .exec(),
  );
  return record.exportedAt;
}

/** The record of an export; null before its first complete build has ended. */
export async function findExportRecord(db: ExportRecordDb, exportKey: string): Promise<ExportRecord | null> {
  const found = await db.exportRecords
    .findOne(completeOf(exportKey))
    .sort(youngestFirst)
    .lean<StoredExportRecord>()
    .exec();
  return found === null ? null : read(found);
}

/** What a build has made; its entries come one by one, for an archive may have 100,000. */
export interface BuiltExport extends Omit<ExportRecord, 'signedUntil' | 'entries'> {
  entries: Iterable<ExportEntry>;
}

/**
 * Writes the record of a build that is complete, before its archive is published. It replaces those of other content,
 * but for what signed addresses still name.
 */
export async function saveExportRecord(db: ExportRecordDb, record: BuiltExport): Promise<void> {
  const { exportKey, contentDigest, exportedAt, archive } = record;
  const entries = await toGzip(entriesJson(record.entries));
  const now = new Date();
  await upsertSafely(() =>
    db.exportRecords.updateOne(
      { exportKey, contentDigest },
      { $set: { completedAt: now, archive, entries }, $setOnInsert: { exportedAt } },
      { upsert: true },
    ),
  );
  await db.exportRecords.deleteMany({
    ...completeOf(exportKey),
    contentDigest: { $ne: contentDigest },
    $nor: [{ signedUntil: { $gt: now } }],
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
 * Notes that addresses are about to be signed that name the entries of an archive until `until`, so that they are
 * kept that long.
 *
 * @param archive its digest, the keys under which it may have been built, and the organization that gets the URLs.
 * @returns the archive's record: only its entries may be signed. Null when there is none.
 */
export async function recordSignedUrls(
  db: ExportRecordDb,
  archive: { exportKeys: readonly string[]; sha256: string; organizationId: string },
  until: Date,
): Promise<ExportRecord | null> {
  const found = await db.exportRecords
    .findOneAndUpdate(
      {
        exportKey: { $in: [...archive.exportKeys] },
        completedAt: { $ne: null },
        'archive.sha256': archive.sha256,
      },
      { $max: { signedUntil: until }, $set: { signedAt: new Date(), signedFor: archive.organizationId } },
      { sort: youngestFirst, returnDocument: 'after' },
    )
    .lean<StoredExportRecord>()
    .exec();
  return found === null ? null : read(found);
}

/** Downloaded files of one archive that signed URLs name. */
export interface SignedFiles {
  signedUntil: Date;
  /** Whose they are; null in records of earlier releases. */
  organizationId: string | null;
  sha256s: string[];
}

/** The downloaded files that addresses name which were signed since a time and are still good, a record at a time. */
export async function* listSignedFiles(db: ExportRecordDb, since: Date): AsyncGenerator<SignedFiles> {
  const found = db.exportRecords
    .find({ signedUntil: { $gt: new Date() }, signedAt: { $gt: since } })
    .lean<StoredExportRecord[]>()
    .cursor({ batchSize: 20 });
  for await (const stored of found as AsyncIterable<StoredExportRecord>) {
    const record = await read(stored);
    if (record === null || record.signedUntil === null) continue;
    const cached = record.entries.filter(({ area }) => area === 'cache');
    yield {
      signedUntil: record.signedUntil,
      organizationId: stored.signedFor ?? null,
      sha256s: cached.map(({ sha256 }) => sha256),
    };
  }
}

/** Gives up a record: the next build of its content writes another, with a time of its own. */
export async function deleteExportRecord(
  db: ExportRecordDb,
  { exportKey, contentDigest }: Pick<ExportRecord, 'exportKey' | 'contentDigest'>,
): Promise<void> {
  await db.exportRecords.deleteOne({ exportKey, contentDigest });
}

async function read(stored: StoredExportRecord): Promise<ExportRecord | null> {
  const { exportKey, contentDigest, exportedAt, archive, entries, signedUntil } = stored;
  if (archive === null || entries === null) return null;
  const text = await fromGzipParts([{ data: entries }]);
  return {
    exportKey,
    contentDigest,
    exportedAt,
    archive,
    entries: JSON.parse(text.toString('utf8')) as ExportEntry[],
    signedUntil: signedUntil ?? null,
  };
}
