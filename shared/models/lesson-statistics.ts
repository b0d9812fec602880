import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';

/** The counts of a version's learners, and whether a worker has to count them again. */
export interface LessonStatistics {
  /** The version's id. */
  _id: string;
  organizationId: string;
  lessonId: string;
  /** Null while no client has requested newer counts. While a worker counts, the end of its lease. */
  dueAt: Date | null;
  /** Null before the first time. */
  counted: Counted | null;
}

interface Counted {
  at: Date;
  /** How long it took. */
  durationMs: number;
  /** JSON texts of the statistics: all of them, and without what is about fewer than five learners. */
  all: string;
  ofMany: string;
}

export interface LessonStatisticsDb {
  lessonStatistics: Model<LessonStatistics>;
}

const countedSchema = new Schema<Counted>(
  {
    at: { type: Date, required: true },
    durationMs: { type: Number, required: true },
    all: { type: String, required: true },
    ofMany: { type: String, required: true },
  },
  { _id: false, strict: 'throw' },
);

export const lessonStatisticsSchema = new Schema<LessonStatistics>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    lessonId: { type: String, required: true },
    dueAt: { type: Date, default: null },
    counted: { type: countedSchema, default: null },
  },
  schemaOptions,
);
lessonStatisticsSchema.index({ lessonId: 1 });
lessonStatisticsSchema.index(
  { organizationId: 1, dueAt: 1 },
  { partialFilterExpression: { dueAt: { $type: 'date' } } },
);

/** The number of an organization's versions that may wait to be counted. */
const maxDue = 20;

/** A count that failed, or whose worker died, is repeated after this time. Two concurrent counts are harmless. */
const leaseMs = 10 * 60_000;

export function findStatistics(db: LessonStatisticsDb, versionId: string): Promise<LessonStatistics | null> {
  return db.lessonStatistics.findById(versionId).lean<LessonStatistics>().exec();
}

/** Has a worker count a version's learners. Returns false if too many versions of the organization wait. */
export async function requestStatistics(
  db: LessonStatisticsDb,
  { _id, organizationId, lessonId }: Pick<LessonStatistics, '_id' | 'organizationId' | 'lessonId'>,
): Promise<boolean> {
  const waiting = await db.lessonStatistics
    .countDocuments({ organizationId, dueAt: { $type: 'date' } }, { limit: maxDue })
    .hint({ organizationId: 1, dueAt: 1 });
  if (waiting >= maxDue) return false;
  const created = { $setOnInsert: { organizationId, lessonId } };
  await db.lessonStatistics.updateOne({ _id }, created, { upsert: true });
  await db.lessonStatistics.updateOne({ _id, dueAt: null }, { dueAt: new Date() });
  return true;
}

/** Leases due statistics; null if none are due. Organizations take turns. @param after the last turn's organization. */
export async function claimStatistics(
  db: LessonStatisticsDb,
  after: string,
  now = Date.now(),
): Promise<LessonStatistics | null> {
  const claim = (from: string) =>
    db.lessonStatistics
      .findOneAndUpdate(
        { organizationId: { $gt: from }, dueAt: { $type: 'date', $lte: new Date(now) } },
        { dueAt: new Date(now + leaseMs) },
        { returnDocument: 'after' },
      )
      .sort({ organizationId: 1, dueAt: 1 })
      .lean<LessonStatistics>()
      .exec();
  return (await claim(after)) ?? claim('');
}

/** Stores the counts of claimed statistics, unless learners of the lesson were erased since. */
export async function saveStatistics(
  db: LessonStatisticsDb,
  { _id, dueAt }: LessonStatistics,
  counted: Counted,
): Promise<void> {
  await db.lessonStatistics.updateOne({ _id, dueAt }, { counted, dueAt: null });
}

/** Removes the counts of lessons, because learners were erased. Call it after the records are gone. */
export async function forgetStatistics(db: LessonStatisticsDb, lessonIds: readonly string[]): Promise<void> {
  await db.lessonStatistics.deleteMany({ lessonId: { $in: [...lessonIds] } });
}
