import { gunzipSync, gzipSync } from 'node:zlib';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';

/** When the statistics of a lesson were counted, and when they are due again. */
export interface LessonStatistics {
  /** The lesson's id. */
  _id: string;
  organizationId: string;
  /** Null while no client has requested newer ones. While a worker counts, the end of its lease. */
  dueAt: Date | null;
  /** Null before the first count, and after learners were erased. */
  computedAt: Date | null;
  /** The duration of the last count. */
  durationMs: number;
  /** When all records were last counted. Null if the next count must read all of them. */
  recountedAt: Date | null;
  /** Records with later activity are not counted yet. */
  countedUntil: Date | null;
  /** The number of a record id's leading digits that name its part. */
  digits: number;
  /** Changes when counts become invalid, so that a count in progress does not replace newer data. */
  generation: number;
}

/** Counts of a part of a lesson's learners by version, or of all learners of one version. */
export interface StatisticsTally {
  /** See {@link partId} and {@link versionTallyId}. */
  _id: string;
  lessonId: string;
  /** Gzipped JSON. */
  counts: Buffer;
}

export interface LessonStatisticsDb {
  lessonStatistics: Model<LessonStatistics>;
  statisticsTallies: Model<StatisticsTally>;
}

export const lessonStatisticsSchema = new Schema<LessonStatistics>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    dueAt: { type: Date, default: null },
    computedAt: { type: Date, default: null },
    durationMs: { type: Number, default: 0 },
    recountedAt: { type: Date, default: null },
    countedUntil: { type: Date, default: null },
    digits: { type: Number, default: 0 },
    generation: { type: Number, default: 0 },
  },
  schemaOptions,
);
lessonStatisticsSchema.index(
  { organizationId: 1, dueAt: 1 },
  { partialFilterExpression: { dueAt: { $type: 'date' } } },
);

export const statisticsTallySchema = new Schema<StatisticsTally>(
  {
    _id: { type: String, required: true },
    lessonId: { type: String, required: true },
    counts: { type: Buffer, required: true },
  },
  schemaOptions,
);
statisticsTallySchema.index({ lessonId: 1, _id: 1 });

const partId = (lessonId: string, part: string) => `${lessonId}/part/${part}`;
const versionTallyId = (lessonId: string, versionId: string) => `${lessonId}/version/${versionId}`;

export function findStatistics(db: LessonStatisticsDb, lessonId: string): Promise<LessonStatistics | null> {
  return db.lessonStatistics.findById(lessonId).lean<LessonStatistics>().exec();
}

/** The maximum number of an organization's due lessons: each waits in the queue for the others. */
const maxDue = 20;

/** Makes a lesson's statistics due, unless they already are. Returns false if the organization has too many due ones. */
export async function requestStatistics(
  db: LessonStatisticsDb,
  { organizationId, lessonId }: { organizationId: string; lessonId: string },
): Promise<boolean> {
  const due = await db.lessonStatistics
    .find({ organizationId, dueAt: { $type: 'date' } }, { _id: 1 })
    .hint({ organizationId: 1, dueAt: 1 })
    .limit(maxDue)
    .lean()
    .exec();
  if (due.some(({ _id }) => _id === lessonId)) return true;
  if (due.length === maxDue) return false;
  await db.lessonStatistics.updateOne(
    { _id: lessonId },
    { $setOnInsert: { organizationId } },
    { upsert: true },
  );
  await db.lessonStatistics.updateOne({ _id: lessonId, dueAt: null }, { dueAt: new Date() });
  return true;
}

/**
 * Claims due statistics until `lease`; null if none are due. Organizations take turns, in the order of their ids, and
 * the lessons of each follow in the order of the requests.
 *
 * @param turn.after the organization that had the last turn.
 * @param turn.except organizations to skip.
 */
export async function claimStatistics(
  db: LessonStatisticsDb,
  { now, lease }: { now: Date; lease: Date },
  { after, except }: { after: string; except: readonly string[] },
): Promise<LessonStatistics | null> {
  const claim = (from: string) =>
    db.lessonStatistics
      .findOneAndUpdate(
        { organizationId: { $gt: from, $nin: [...except] }, dueAt: { $type: 'date', $lte: now } },
        { dueAt: lease },
        { returnDocument: 'after' },
      )
      .sort({ organizationId: 1, dueAt: 1 })
      .lean<LessonStatistics>()
      .exec();
  return (await claim(after)) ?? claim('');
}

/** Ends a claim. Returns false, and changes nothing, if the counts have become invalid meanwhile. */
export async function finishStatistics(
  db: LessonStatisticsDb,
  { _id, generation }: LessonStatistics,
  fields: Pick<LessonStatistics, 'computedAt' | 'durationMs' | 'recountedAt' | 'countedUntil' | 'digits'>,
): Promise<boolean> {
  const ended = await db.lessonStatistics.updateOne({ _id, generation }, { ...fields, dueAt: null });
  return ended.matchedCount === 1;
}

/** Makes claimed statistics due again at a time. */
export async function postponeStatistics(
  db: LessonStatisticsDb,
  lessonId: string,
  dueAt: Date,
): Promise<void> {
  await db.lessonStatistics.updateOne({ _id: lessonId }, { dueAt });
}

/**
 * Removes the counts of lessons, because learners were erased. After the next request, a worker counts all records
 * again. Call it after the records are gone.
 */
export async function forgetStatistics(db: LessonStatisticsDb, lessonIds: readonly string[]): Promise<void> {
  const lessons = { $in: [...lessonIds] };
  await db.lessonStatistics.updateMany(
    { _id: lessons },
    { $set: { computedAt: null, recountedAt: null, countedUntil: null }, $inc: { generation: 1 } },
  );
  await db.statisticsTallies.deleteMany({ lessonId: lessons });
}

export async function savePart(
  db: LessonStatisticsDb,
  { lessonId, part }: { lessonId: string; part: string },
  counts: object,
): Promise<void> {
  await saveTally(db, { _id: partId(lessonId, part), lessonId }, counts);
}

export async function saveVersionTally(
  db: LessonStatisticsDb,
  { lessonId, versionId }: { lessonId: string; versionId: string },
  counts: object,
): Promise<void> {
  await saveTally(db, { _id: versionTallyId(lessonId, versionId), lessonId }, counts);
}

async function saveTally(
  db: LessonStatisticsDb,
  { _id, lessonId }: Pick<StatisticsTally, '_id' | 'lessonId'>,
  counts: object,
): Promise<void> {
  const compressed = gzipSync(JSON.stringify(counts));
  await db.statisticsTallies.updateOne({ _id }, { lessonId, counts: compressed }, { upsert: true });
}

/** Yields the counts of a lesson's parts, in the order of their names. */
export async function* listParts(db: LessonStatisticsDb, lessonId: string): AsyncGenerator<unknown> {
  const prefix = partId(lessonId, '');
  const cursor = db.statisticsTallies
    .find({ lessonId, _id: { $gte: prefix, $lt: `${prefix}~` } })
    .sort({ _id: 1 })
    .lean<StatisticsTally>()
    .cursor({ batchSize: 4 });
  for await (const { counts } of cursor) yield countsOf(counts);
}

/** Returns the counts of a version; null if it has none. */
export async function findVersionTally(
  db: LessonStatisticsDb,
  { lessonId, versionId }: { lessonId: string; versionId: string },
): Promise<unknown> {
  const tally = await db.statisticsTallies
    .findById(versionTallyId(lessonId, versionId))
    .lean<StatisticsTally>()
    .exec();
  return tally === null ? null : countsOf(tally.counts);
}

/** Removes the parts of a lesson that are not among these. */
export async function keepParts(
  db: LessonStatisticsDb,
  lessonId: string,
  parts: readonly string[],
): Promise<void> {
  await keepTallies(
    db,
    lessonId,
    partId(lessonId, ''),
    parts.map((part) => partId(lessonId, part)),
  );
}

/** Removes the counts of versions that no longer have learners. */
export async function keepVersionTallies(
  db: LessonStatisticsDb,
  lessonId: string,
  versionIds: readonly string[],
): Promise<void> {
  await keepTallies(
    db,
    lessonId,
    versionTallyId(lessonId, ''),
    versionIds.map((versionId) => versionTallyId(lessonId, versionId)),
  );
}

async function keepTallies(
  db: LessonStatisticsDb,
  lessonId: string,
  prefix: string,
  kept: readonly string[],
): Promise<void> {
  await db.statisticsTallies.deleteMany({
    lessonId,
    _id: { $gte: prefix, $lt: `${prefix}~`, $nin: [...kept] },
  });
}

function countsOf(counts: Buffer | { buffer: Uint8Array }): unknown {
  const bytes = Buffer.isBuffer(counts) ? counts : Buffer.from(counts.buffer);
  return JSON.parse(gunzipSync(bytes).toString('utf8'));
}
