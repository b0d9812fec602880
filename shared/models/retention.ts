import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';
import { forAllKinds, recordKinds } from './learner-records.ts';
import type { RecordKind } from './learner-records.ts';

/** The number of days after which records of each kind are removed; null for never. */
export type RetentionDays = Record<RecordKind, number | null>;

export const noRetention: RetentionDays = forAllKinds(() => null);

/** The retention of an organization's records of learners. */
export interface Retention {
  /** The organization's id. */
  _id: string;
  days: RetentionDays;
  /** When the next run begins; null while all kinds are off. During a run, when another worker may repeat it. */
  dueAt: Date | null;
}

export interface RetentionDb {
  retentions: Model<Retention>;
}

export const retentionSchema = new Schema<Retention>(
  {
    _id: { type: String, required: true },
    days: { type: Schema.Types.Mixed, required: true },
    dueAt: { type: Date, default: null },
  },
  schemaOptions,
);
retentionSchema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $type: 'date' } } });

const dayMs = 24 * 3600_000;
/** After this time, the worker of a run has probably died. Concurrent runs are harmless. */
const runMs = 3600_000;

/** Returns the retention of an organization. */
export async function findRetention(db: RetentionDb, _id: string): Promise<Retention> {
  const found = await db.retentions.findById(_id).lean<Retention>().exec();
  return found ?? { _id, days: noRetention, dueAt: null };
}

/**
 * Replaces the settings. The next run begins a day later, so that a mistake can be corrected. Equal settings change
 * nothing, so a client may send them again and again.
 */
export async function saveRetention(db: RetentionDb, _id: string, days: RetentionDays): Promise<Retention> {
  const stored = await findRetention(db, _id);
  if (recordKinds.every((kind) => stored.days[kind] === days[kind])) return stored;
  const isOn = recordKinds.some((kind) => days[kind] !== null);
  const dueAt = isOn ? new Date(Date.now() + dayMs) : null;
  await db.retentions.updateOne({ _id }, { days, dueAt }, { upsert: true });
  return { _id, days, dueAt };
}

/** Claims the run that has been due the longest; null if none is due. */
export function claimRun(db: RetentionDb): Promise<Retention | null> {
  const now = Date.now();
  return db.retentions
    .findOneAndUpdate(
      { dueAt: { $type: 'date', $lte: new Date(now) } },
      { dueAt: new Date(now + runMs) },
      { returnDocument: 'after', sort: { dueAt: 1 } },
    )
    .lean<Retention>()
    .exec();
}

/** Ends a run. The next one begins a day after this one began. */
export async function endRun(db: RetentionDb, { _id, dueAt }: Retention): Promise<void> {
  const next = new Date((dueAt ?? new Date()).getTime() - runMs + dayMs);
  // Otherwise the settings have changed meanwhile.
  await db.retentions.updateOne({ _id, dueAt }, { dueAt: next });
}
