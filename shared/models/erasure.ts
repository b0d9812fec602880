import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isUnleased, leaseFields, newLease, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';
import { isDuplicate, schemaOptions, uuidField } from '../platform/mongo.ts';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import { forAllKinds, noRecords } from './learner-records.ts';
import type { RecordCounts } from './learner-records.ts';

/** The other systems that may still hold data about a learner, as far as Lectern knows them. */
export interface Downstream {
  /** Platforms that have accepted grades. */
  gradebooks: { platformId: string; issuer: string; grades: number }[];
  /** Learning record stores that may have statements. */
  recordStores: { destinationId: string; endpoint: string }[];
  /** Webhooks that get `learner.erased`, and others that may have had events about the learner. */
  webhooks: { webhookId: string; url: string; isNotified: boolean }[];
}

/**
 * `removing` the records, `settling` until requests and workers that had read them have ended, and then `finished`,
 * without the learner's ids.
 */
export type ErasureState = 'removing' | 'settling' | 'finished';

export const erasureModes = ['erase', 'anonymize'] as const;
export type ErasureMode = (typeof erasureModes)[number];

/** An erasure of a learner's data. A finished one is an entry of the ledger. */
export interface Erasure extends Leased {
  _id: string;
  organizationId: string;
  pseudonym: string;
  mode: ErasureMode;
  /** Null once finished. */
  learner: LearnerSubject | null;
  state: ErasureState;
  /** Tokens that were signed up to this time are rejected. */
  requestedAt: Date;
  /** Removes only records up to this time; null for all. Repeated erasures after a restore set it. */
  until: Date | null;
  /** When a worker continues; null once finished. */
  dueAt: Date | null;
  removed: RecordCounts;
  /** The records that concurrent work wrote during the removal. */
  removedLate: RecordCounts;
  /** The lessons of the removed records: their statistics are counted again. Empty once finished. */
  lessonIds: string[];
  /** Null until known. */
  downstream: Downstream | null;
  finishedAt: Date | null;
  /** When MongoDB deletes it, if it has removed nothing; null for entries of the ledger. */
  expiresAt: Date | null;
}

export interface ErasureDb {
  erasures: Model<Erasure>;
}

const countFields = forAllKinds(() => ({ type: Number, default: 0 }));

export const erasureSchema = new Schema<Erasure>(
  {
    _id: uuidField,
    organizationId: { type: String, required: true },
    pseudonym: { type: String, required: true },
    mode: { type: String, required: true, enum: erasureModes },
    learner: { type: Schema.Types.Mixed, default: null },
    state: { type: String, required: true },
    requestedAt: { type: Date, required: true },
    until: { type: Date, default: null },
    dueAt: { type: Date, default: null },
    removed: { type: new Schema(countFields, { _id: false }), required: true },
    removedLate: { type: new Schema(countFields, { _id: false }), required: true },
    lessonIds: { type: [String], default: [] },
    downstream: { type: Schema.Types.Mixed, default: null },
    finishedAt: { type: Date, default: null },
    expiresAt: { type: Date, default: null },
    ...leaseFields,
  },
  schemaOptions,
);
const unfinished = { partialFilterExpression: { dueAt: { $type: 'date' } } } as const;
erasureSchema.index({ organizationId: 1, pseudonym: 1 }, { unique: true, ...unfinished });
erasureSchema.index({ organizationId: 1, dueAt: 1 }, unfinished);
// For a learner who begins a lesson again after an erasure.
erasureSchema.index({ organizationId: 1, pseudonym: 1, requestedAt: -1 });
erasureSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const leaseMs = 60_000;

/** Adds an erasure, due now; returns the unfinished one of the same learner if there is one. */
export async function createErasure(
  db: ErasureDb,
  fields: Pick<Erasure, 'organizationId' | 'pseudonym' | 'mode' | 'learner' | 'requestedAt' | 'until'>,
): Promise<Erasure> {
  const { organizationId, pseudonym } = fields;
  for (;;) {
    try {
      const [created] = await db.erasures.create([
        {
          ...fields,
          state: 'removing',
          dueAt: new Date(),
          removed: noRecords,
          removedLate: noRecords,
          ...noLease,
        },
      ]);
      if (created !== undefined) return created.toObject();
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
    const running = await db.erasures
      .findOne({ organizationId, pseudonym, dueAt: { $type: 'date' } })
      .lean<Erasure>()
      .exec();
    // Null if it has finished just now.
    if (running !== null) return running;
  }
}

export type ClaimedErasure = Erasure & { leaseId: string };

/** Leases a certain erasure; null if it is not due. */
export function claimErasure(db: ErasureDb, id: string): Promise<ClaimedErasure | null> {
  return leaseFirst(db, { _id: id });
}

/**
 * Leases a due erasure; null if none is due. Organizations take turns, in the order of their ids.
 *
 * @param after the organization that had the last turn.
 */
export async function claimNextErasure(db: ErasureDb, after: string): Promise<ClaimedErasure | null> {
  const sort = { organizationId: 1, dueAt: 1 } as const;
  const claim = (from: string) => leaseFirst(db, { organizationId: { $gt: from } }, sort);
  return (await claim(after)) ?? claim('');
}

function leaseFirst(
  db: ErasureDb,
  filter: object,
  sort?: { organizationId: 1; dueAt: 1 },
): Promise<ClaimedErasure | null> {
  return db.erasures
    .findOneAndUpdate(
      { ...filter, dueAt: { $type: 'date', $lte: new Date() }, $expr: isUnleased },
      [{ $set: newLease(randomUUID(), leaseMs) }],
      { updatePipeline: true, returnDocument: 'after', ...(sort && { sort }) },
    )
    .lean<ClaimedErasure>()
    .exec();
}

/**
 * Stores the counts of records before the removal. A repeated removal finds fewer records, and keeps the first counts.
 */
export async function recordCounts(
  db: ErasureDb,
  id: string,
  field: 'removed' | 'removedLate',
  counts: RecordCounts,
): Promise<void> {
  const largest = Object.fromEntries(
    Object.entries(counts).map(([kind, count]) => [`${field}.${kind}`, count]),
  );
  await db.erasures.updateOne({ _id: id }, { $max: largest });
}

/** Notes the lessons of a learner's records, before they are removed. */
export async function recordLessons(db: ErasureDb, id: string, lessonIds: readonly string[]): Promise<void> {
  await db.erasures.updateOne({ _id: id }, { $addToSet: { lessonIds: { $each: [...lessonIds] } } });
}

/** Stores the other systems, unless an earlier run has stored them: a later run may no longer find them. */
export async function recordDownstream(db: ErasureDb, id: string, downstream: Downstream): Promise<void> {
  await db.erasures.updateOne({ _id: id, downstream: null }, { $set: { downstream } });
}

/** Advances a claimed erasure, or makes it due again, and releases its lease. */
export async function advanceErasure(
  db: ErasureDb,
  { _id, leaseId }: Pick<Erasure, '_id' | 'leaseId'>,
  changes: Partial<Pick<Erasure, 'state' | 'dueAt' | 'learner' | 'finishedAt' | 'expiresAt' | 'lessonIds'>>,
): Promise<void> {
  await db.erasures.updateOne({ _id, leaseId }, { $set: { ...changes, ...noLease } });
}

export function findErasure(db: ErasureDb, organizationId: string, id: string): Promise<Erasure | null> {
  return db.erasures.findOne({ _id: id, organizationId }).lean<Erasure>().exec();
}

/** Returns when a learner's data were last erased; null if never. */
export async function findLastErasure(
  db: ErasureDb,
  organizationId: string,
  pseudonym: string,
): Promise<Date | null> {
  const last = await db.erasures
    .findOne({ organizationId, pseudonym }, { requestedAt: 1 })
    .sort({ requestedAt: -1 })
    .lean<Pick<Erasure, 'requestedAt'>>()
    .exec();
  return last?.requestedAt ?? null;
}

/** An erasure in the ledger. */
export type LedgerEntry = Pick<Erasure, 'organizationId' | 'pseudonym' | 'requestedAt'>;

/** Returns all erasures that have removed something, for the ledger. */
export function listErasures(db: ErasureDb): AsyncIterable<LedgerEntry> {
  return db.erasures
    .find({ expiresAt: null }, { _id: 0, organizationId: 1, pseudonym: 1, requestedAt: 1 })
    .lean<LedgerEntry>()
    .cursor();
}
