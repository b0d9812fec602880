import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';

/**
 * Some entries of an organization's audit log, chained to the block before them (shared/audit/audit-chain.ts). Blocks
 * are inserted and pruned, never changed.
 */
export interface AuditBlock {
  /** Organization and sequence: two writers cannot store the same block twice. */
  _id: string;
  organizationId: string;
  /** From 1, without gaps. */
  sequence: number;
  /** Never earlier than the previous block's time or any entry's time. */
  sealedAt: Date;
  /** A JSON array of entries as text, which keeps the exact bytes that were hashed. */
  entries: string;
  count: number;
  /** The pseudonyms of the learners that the entries are about, for the index. */
  learners: string[];
  previousHash: string;
  hash: string;
}

export interface AuditBlockDb {
  auditBlocks: Model<AuditBlock>;
}

export const auditBlockSchema = new Schema<AuditBlock>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    sequence: { type: Number, required: true },
    sealedAt: { type: Date, required: true },
    entries: { type: String, required: true },
    count: { type: Number, required: true },
    learners: { type: [String], default: [] },
    previousHash: { type: String, required: true },
    hash: { type: String, required: true },
  },
  schemaOptions,
);
auditBlockSchema.index({ organizationId: 1, sequence: 1 });
auditBlockSchema.index({ organizationId: 1, sealedAt: 1, sequence: 1 });
auditBlockSchema.index({ organizationId: 1, learners: 1, sequence: 1 });

/** Inserts a block; returns false if another writer stored a block with this sequence first. */
export async function insertBlock(db: AuditBlockDb, block: Omit<AuditBlock, '_id'>): Promise<boolean> {
  const _id = idOf(block.organizationId, block.sequence);
  try {
    await db.auditBlocks.collection.insertOne({ _id, ...block } as never);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

function idOf(organizationId: string, sequence: number): string {
  return `${organizationId}:${sequence}`;
}

/** Returns the last block of an organization; null if there is none. */
export function findLastBlock(db: AuditBlockDb, organizationId: string): Promise<AuditBlock | null> {
  return db.auditBlocks.findOne({ organizationId }).sort({ sequence: -1 }).lean<AuditBlock>().exec();
}

export function findBlock(
  db: AuditBlockDb,
  organizationId: string,
  sequence: number,
): Promise<AuditBlock | null> {
  return db.auditBlocks.findById(idOf(organizationId, sequence)).lean<AuditBlock>().exec();
}

/** Returns the sequence of the first block that may have an entry since a time; null if there is none. */
export async function findSequenceSince(
  db: AuditBlockDb,
  organizationId: string,
  since: Date,
): Promise<number | null> {
  const block = await db.auditBlocks
    .findOne({ organizationId, sealedAt: { $gte: since } }, { sequence: 1 })
    .sort({ sealedAt: 1, sequence: 1 })
    .lean<Pick<AuditBlock, 'sequence'>>()
    .exec();
  return block?.sequence ?? null;
}

/** Returns blocks from a sequence on, in order. @param learner only blocks about this learner, a pseudonym. */
export function listBlocks(
  db: AuditBlockDb,
  organizationId: string,
  { from, limit, learner }: { from: number; limit: number; learner?: string | undefined },
): Promise<AuditBlock[]> {
  const about = learner === undefined ? {} : { learners: learner };
  return db.auditBlocks
    .find({ organizationId, ...about, sequence: { $gte: from } })
    .sort({ sequence: 1 })
    .hint({ organizationId: 1, ...(learner !== undefined && { learners: 1 as const }), sequence: 1 })
    .limit(limit)
    .lean<AuditBlock[]>()
    .exec();
}

/** Returns the last block that was sealed before a time; null if there is none. */
export function findLastBlockBefore(
  db: AuditBlockDb,
  organizationId: string,
  before: Date,
): Promise<AuditBlock | null> {
  return db.auditBlocks
    .findOne({ organizationId, sealedAt: { $lt: before } })
    .sort({ sealedAt: -1, sequence: -1 })
    .lean<AuditBlock>()
    .exec();
}

/** Deletes the blocks up to a sequence; returns their number. */
export async function deleteBlocksUpTo(
  db: AuditBlockDb,
  organizationId: string,
  sequence: number,
): Promise<number> {
  const { deletedCount } = await db.auditBlocks.deleteMany({ organizationId, sequence: { $lte: sequence } });
  return deletedCount;
}

/** Returns the organizations with blocks. */
export function listAuditedOrganizations(db: AuditBlockDb): Promise<string[]> {
  return db.auditBlocks.distinct('organizationId').exec();
}
