import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, upsertSafely } from '../platform/mongo.ts';

/** The last pruned block of an organization's audit log. The remaining chain begins after it. */
export interface AuditAnchor {
  /** The organization's id. */
  _id: string;
  sequence: number;
  hash: string;
  sealedAt: Date;
  prunedAt: Date;
  /** Authenticates the other fields (shared/audit/audit-chain.ts). */
  mac: string;
}

export interface AuditAnchorDb {
  auditAnchors: Model<AuditAnchor>;
}

export const auditAnchorSchema = new Schema<AuditAnchor>(
  {
    _id: { type: String, required: true },
    sequence: { type: Number, required: true },
    hash: { type: String, required: true },
    sealedAt: { type: Date, required: true },
    prunedAt: { type: Date, required: true },
    mac: { type: String, required: true },
  },
  schemaOptions,
);

export function findAnchor(db: AuditAnchorDb, organizationId: string): Promise<AuditAnchor | null> {
  return db.auditAnchors.findById(organizationId).lean<AuditAnchor>().exec();
}

/** Stores an anchor, unless there is a later one. */
export async function saveAnchor(db: AuditAnchorDb, { _id, ...fields }: AuditAnchor): Promise<void> {
  const isLater = { $gt: [fields.sequence, { $ifNull: ['$sequence', 0] }] };
  const set = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      { $cond: [isLater, { $literal: value }, `$${name}`] },
    ]),
  );
  await upsertSafely(() =>
    db.auditAnchors.updateOne({ _id }, [{ $set: set }], { upsert: true, updatePipeline: true }),
  );
}
