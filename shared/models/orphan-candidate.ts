import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isFreeAt } from '../platform/lease.ts';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/** An orphan candidate: a file of the store's assets that may have no reference, because it is new or has lost one. */
export interface OrphanCandidate {
  /** SHA-256. */
  _id: string;
  /** When it last became a candidate. */
  notedAt: Date;
  /** The expiry of the deletion lease, under which one process may remove the file; null without a lease. */
  leavingUntil: Date | null;
}

export interface OrphanCandidateDb {
  assetNotes: Model<OrphanCandidate>;
}

export const orphanCandidateSchema = new Schema<OrphanCandidate>(
  {
    _id: { type: String, required: true },
    notedAt: { type: Date, required: true },
    leavingUntil: { type: Date, default: null },
  },
  schemaOptions,
);
orphanCandidateSchema.index({ notedAt: 1, _id: 1 });

/** How long a process may take to remove a file. If it dies, writers of the same file wait this long. */
const deletionLeaseMs = 60_000;

/** Records a file that is about to be stored, or to lose a reference. Returns false while it is being removed. */
export async function addOrphanCandidate(db: OrphanCandidateDb, sha256: string): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    const notedAt = new Date();
    try {
      await db.assetNotes.updateOne(
        { _id: sha256, ...isFreeAt('leavingUntil', notedAt) },
        { $set: { notedAt, leavingUntil: null } },
        { upsert: true },
      );
      return true;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      // Another process recorded it concurrently, or it is being removed.
      if (tries === 2) return false;
    }
  }
}

/**
 * Returns candidates from before a time, oldest first, at most `limit`.
 *
 * @param options.after the last candidate of the previous page; null for the first page.
 */
export async function listOrphanCandidates(
  db: OrphanCandidateDb,
  { before, after, limit }: { before: Date; after: OrphanCandidate | null; limit: number },
): Promise<OrphanCandidate[]> {
  const afterCursor = after !== null && {
    $or: [{ notedAt: { $gt: after.notedAt } }, { _id: { $gt: after._id } }],
  };
  return db.assetNotes
    .find({ notedAt: { $lte: before, ...(after !== null && { $gte: after.notedAt }) }, ...afterCursor })
    .sort({ notedAt: 1, _id: 1 })
    .limit(limit)
    .lean<OrphanCandidate[]>()
    .exec();
}

/**
 * Takes the deletion lease of a file. Returns false if the file became a candidate again, or another process has the
 * lease.
 */
export async function leaseForDeletion(
  db: OrphanCandidateDb,
  sha256: string,
  before: Date,
): Promise<boolean> {
  const now = new Date();
  const { modifiedCount } = await db.assetNotes.updateOne(
    { _id: sha256, notedAt: { $lte: before }, ...isFreeAt('leavingUntil', now) },
    { $set: { leavingUntil: new Date(now.getTime() + deletionLeaseMs) } },
  );
  return modifiedCount === 1;
}

/** Removes candidates, except those that became candidates again since a time. */
export async function removeOrphanCandidates(
  db: OrphanCandidateDb,
  sha256s: string[],
  before: Date,
): Promise<void> {
  await db.assetNotes.deleteMany({ _id: { $in: sha256s }, notedAt: { $lte: before } });
}
