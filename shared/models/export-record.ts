import { Schema } from 'mongoose';
import { schemaOptions, upsertSafely } from '../mongo.ts';
import type { Database } from './database.ts';

/**
 * When a version's archive with exactly this content was first made. Whoever builds the same content again, at the
 * same time or after the archive was evicted, takes the same time and so makes the same bytes.
 */
export interface ExportRecord {
  exportKey: string;
  /** SHA-256 over the path, size and SHA-256 of every entry but manifest.json. */
  contentDigest: string;
  exportedAt: Date;
}

export const exportRecordSchema = new Schema<ExportRecord>(
  {
    exportKey: { type: String, required: true },
    contentDigest: { type: String, required: true },
    exportedAt: { type: Date, required: true },
  },
  schemaOptions,
);
exportRecordSchema.index({ exportKey: 1, contentDigest: 1 }, { unique: true });

/** The time that archives of this content carry: the first caller's, for all who come later. */
export async function claimExportTime(db: Database, exportKey: string, contentDigest: string): Promise<Date> {
  const record = await upsertSafely(() =>
    db.exportRecords
      .findOneAndUpdate(
        { exportKey, contentDigest },
        { $setOnInsert: { exportedAt: new Date() } },
        { upsert: true, returnDocument: 'after' },
      )
      .lean<ExportRecord>()
      .exec(),
  );
  return record.exportedAt;
}
