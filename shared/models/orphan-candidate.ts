import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isFreeAt } from '../platform/lease.ts';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/** A file of the store's assets that nothing may refer to: it is new, or lost what referred to it. */
export interface OrphanCandidate {
  /** SHA-256. */
  _id: string;
  /** When it was noted last. */
  notedAt: Date;
  /** Until when somebody removes it; null while nobody does. */
  leavingUntil: Date | null;
}

/** The part of the database that these operations use. */
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

/** Who removes a file has so long for it; one that dies keeps those who store the same file waiting for as long. */
const deletionLeaseMs = 60_000;

/** Notes a file that is about to be stored, or to lose what refers to it. False while it is being removed. */
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
      // Another one noted it at the same time, or it is leaving.
      if (tries === 2) return false;
    }
  }
}

/** Files that were noted last before a time, so many at most: those behind another one, in the order of their names. */
export async function listOrphanCandidates(
  db: OrphanCandidateDb,
  { before, behind, limit }: { before: Date; behind: string; limit: number },
): Promise<string[]> {
  const notes = await db.assetNotes
    .find({ _id: { $gt: behind }, notedAt: { $lte: before } })
    .sort({ _id: 1 })
    .limit(limit)
    .lean<OrphanCandidate[]>()
    .exec();
  return notes.map(({ _id }) => _id);
}

/** Marks a file as leaving; false where it was noted again, or leaves already. */
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

/** Drops the notes of files, but for those that were noted again since a time. */
export async function removeOrphanCandidates(
  db: OrphanCandidateDb,
  sha256s: string[],
  before: Date,
): Promise<void> {
  await db.assetNotes.deleteMany({ _id: { $in: sha256s }, notedAt: { $lte: before } });
}
