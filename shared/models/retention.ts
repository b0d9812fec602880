import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { isUnleased, leaseFields, newLease, noLease } from '../platform/lease.ts';
import type { Leased } from '../platform/lease.ts';
import { isDuplicate, schemaOptions } from '../platform/mongo.ts';
import { forAllKinds } from './learner-records.ts';
import type { RecordCounts, RecordKind } from './learner-records.ts';

/** The number of days after which records of each kind are removed; null for never. */
export type RetentionDays = Record<RecordKind, number | null>;

/** The settings of an organization. */
export interface RetentionSettings {
  days: RetentionDays;
  /** The maximum number of records of each kind that one run removes, which limits the damage of a mistake. */
  maxPerRun: number;
}

/** Records that a run is about to remove. */
export interface RetentionBatch {
  kind: RecordKind;
  ids: string[];
  /** Their lessons, whose statistics a worker counts again. */
  lessonIds: string[];
}

/**
 * Where the search of a kind continues, if it stopped before its end. A search of progress stops at a lesson, a search of
 * grades at a grade.
 */
export type SearchPositions = Partial<Record<RecordKind, string>>;

export interface RetentionRun {
  startedAt: Date;
  removed: RecordCounts;
  /** The kind that is being searched; null before the first one. Those before it in `recordKinds` are done. */
  kind: RecordKind | null;
  positions: SearchPositions;
  /** Null between two batches. */
  batch: RetentionBatch | null;
  /** Whether some kind has reached the limit. */
  isCapped: boolean;
}

export interface FinishedRun {
  startedAt: Date;
  finishedAt: Date;
  removed: RecordCounts;
  /** Whether some kind reached the limit: the next run then continues at these positions. */
  isCapped: boolean;
  positions: SearchPositions;
}

/** The retention of an organization's records of learners. */
export interface Retention extends Leased, RetentionSettings {
  /** The organization's id. */
  _id: string;
  /** When the next run begins; null while all kinds are off. */
  dueAt: Date | null;
  /** The run in progress. */
  run: RetentionRun | null;
  lastRun: FinishedRun | null;
}

export interface RetentionDb {
  retentions: Model<Retention>;
}

export const defaultMaxPerRun = 10_000;

export const noRetention: RetentionDays = forAllKinds(() => null);

const mixed = { type: Schema.Types.Mixed, default: null };

export const retentionSchema = new Schema<Retention>(
  {
    _id: { type: String, required: true },
    days: { type: Schema.Types.Mixed, required: true },
    maxPerRun: { type: Number, required: true },
    dueAt: { type: Date, default: null },
    run: mixed,
    lastRun: mixed,
    ...leaseFields,
  },
  { ...schemaOptions, minimize: false },
);
retentionSchema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $type: 'date' } } });

/** Longer than a run can search without finding a batch, even with a million lessons. */
const leaseMs = 60 * 60_000;

const dayMs = 24 * 3600_000;

/** Returns the retention of an organization; null if it was never set. */
export async function findRetention(db: RetentionDb, organizationId: string): Promise<Retention | null> {
  const found = await db.retentions.findById(organizationId).lean<Retention>().exec();
  // Kinds that the stored settings do not have yet are off.
  return found && { ...found, days: { ...noRetention, ...found.days } };
}

/**
 * Replaces the settings. The next run begins a day later, so that a mistake can be corrected. Returns null, and changes
 * nothing, if a run is in progress.
 */
export async function saveRetention(
  db: RetentionDb,
  organizationId: string,
  { days, maxPerRun }: RetentionSettings,
): Promise<Retention | null> {
  const isOn = Object.values(days).some((value) => value !== null);
  const dueAt = isOn ? new Date(Date.now() + dayMs) : null;
  const settings = { days, maxPerRun, dueAt };
  const saved = await db.retentions
    .findOneAndUpdate(
      { _id: organizationId, run: null },
      { $set: { ...settings, ...noLease } },
      { returnDocument: 'after' },
    )
    .lean<Retention>()
    .exec();
  if (saved !== null) return saved;
  try {
    const unused = { run: null, lastRun: null, ...noLease };
    return (await db.retentions.create({ _id: organizationId, ...settings, ...unused })).toObject();
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

export type ClaimedRetention = Retention & { leaseId: string };

/** Takes over the lease of a run in progress, which then stops before its next batch. Returns null if there is none. */
export function claimRun(
  db: RetentionDb,
  organizationId: string,
): Promise<(ClaimedRetention & { run: RetentionRun }) | null> {
  return db.retentions
    .findOneAndUpdate(
      { _id: organizationId, run: { $ne: null } },
      [{ $set: newLease(randomUUID(), leaseMs) }],
      { updatePipeline: true, returnDocument: 'after' },
    )
    .lean<ClaimedRetention & { run: RetentionRun }>()
    .exec();
}

/** Leases the retention that has been due the longest; null if none is due. */
export function claimRetention(db: RetentionDb): Promise<ClaimedRetention | null> {
  const isDue = { $and: [{ $lte: ['$dueAt', '$$NOW'] }, isUnleased] };
  return db.retentions
    .findOneAndUpdate(
      { dueAt: { $type: 'date' }, $expr: isDue },
      [{ $set: newLease(randomUUID(), leaseMs) }],
      { updatePipeline: true, returnDocument: 'after', sort: { dueAt: 1 } },
    )
    .lean<ClaimedRetention>()
    .exec();
}

type Claim = Pick<ClaimedRetention, '_id' | 'leaseId'>;

/**
 * Stores the state of a run, and renews the lease. Returns false, and changes nothing, if the settings were changed or
 * the lease was lost: then the run must stop.
 */
export async function saveRun(db: RetentionDb, { _id, leaseId }: Claim, run: RetentionRun): Promise<boolean> {
  const saved = await db.retentions.updateOne(
    { _id, leaseId },
    [{ $set: { run: { $literal: run }, ...newLease(leaseId, leaseMs) } }],
    { updatePipeline: true },
  );
  return saved.matchedCount === 1;
}

/** Ends a run. The next one begins a day after this one began. */
export async function finishRun(
  db: RetentionDb,
  { _id, leaseId }: Claim,
  lastRun: FinishedRun,
): Promise<void> {
  const dueAt = new Date(lastRun.startedAt.getTime() + dayMs);
  await db.retentions.updateOne({ _id, leaseId }, { $set: { lastRun, run: null, dueAt, ...noLease } });
}

/** Releases the lease after a failure, and continues the run later. */
export async function postponeRun(db: RetentionDb, { _id, leaseId }: Claim, dueAt: Date): Promise<void> {
  await db.retentions.updateOne({ _id, leaseId }, { $set: { dueAt, ...noLease } });
}
