import type { ExportRecordDb, StoredExportRecord } from './export-record.ts';

/** Identifies a record and its last use, so that a change applies only if no build has used the record since then. */
export type RecordUse = Pick<StoredExportRecord, 'exportKey' | 'contentDigest' | 'usedAt'>;

/** Records that a build repeated a complete record. Returns false if there is none. */
export async function useExportRecord(
  db: ExportRecordDb,
  {
    exportKey,
    contentDigest,
    organizationId,
  }: Pick<StoredExportRecord, 'exportKey' | 'contentDigest' | 'organizationId'>,
): Promise<boolean> {
  const { matchedCount } = await db.exportRecords.updateOne(
    { exportKey, contentDigest, completedAt: { $ne: null } },
    { $set: { organizationId, usedAt: new Date() } },
  );
  return matchedCount > 0;
}

/** Returns records by their last use, the longest ago first. */
export async function listLongestUnused(
  db: ExportRecordDb,
  which: { organizationId: string } | { usedBefore: Date },
  limit: number,
): Promise<RecordUse[]> {
  const filter =
    'usedBefore' in which ? { usedAt: { $lt: which.usedBefore } } : { organizationId: which.organizationId };
  return db.exportRecords
    .find(filter, { exportKey: 1, contentDigest: 1, usedAt: 1 })
    .sort({ usedAt: 1 })
    .limit(limit)
    .lean<RecordUse[]>()
    .exec();
}

/** Returns the bytes that an organization's records take. */
export async function sumRecordBytes(db: ExportRecordDb, organizationId: string): Promise<number> {
  const [sum] = await db.exportRecords
    .aggregate<{ bytes: number }>([
      { $match: { organizationId } },
      { $group: { _id: null, bytes: { $sum: '$bytes' } } },
    ])
    .exec();
  return sum?.bytes ?? 0;
}

/** Counts a record as used now. */
export async function keepRecord(db: ExportRecordDb, used: RecordUse): Promise<void> {
  await db.exportRecords.updateOne(unchanged(used), { $set: { usedAt: new Date() } });
}

/** Removes a record. */
export async function removeRecord(db: ExportRecordDb, used: RecordUse): Promise<void> {
  await db.exportRecords.deleteOne(unchanged(used));
}

function unchanged({ exportKey, contentDigest, usedAt }: RecordUse) {
  return { exportKey, contentDigest, usedAt };
}
