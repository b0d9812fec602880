import type { Model } from 'mongoose';
import type { Database } from '../models/database.ts';
import {
  finishStatistics,
  listParts,
  keepParts,
  keepVersionTallies,
  savePart,
  saveVersionTally,
} from '../models/lesson-statistics.ts';
import type { LessonStatistics } from '../models/lesson-statistics.ts';
import { learnerListIndex, statisticsIndex } from '../models/progress-record.ts';
import { ltiLearnerListIndex } from '../models/lti-progress.ts';
import type { ProgressRecord } from '../models/progress-record.ts';
import type { PreparedLessons } from '../player/prepared-lessons.ts';
import { progressStatuses } from '../progress/state.ts';
import { addLearner, addTally, emptyTally, planTally } from './tally.ts';
import type { Tally, TalliedRecord, TallyPlan } from './tally.ts';

/** Tallies by version id. */
type Tallies = Record<string, Tally>;

export interface CountDependencies {
  db: Database;
  lessons: Pick<PreparedLessons, 'facts'>;
}

interface CountOptions {
  signal: AbortSignal;
  now?: Date;
  /** The maximum number of records in a part. If one of them changes, all of them are counted again. */
  maxPerPart?: number;
}

const defaultMaxPerPart = 4096;
const maxDigits = 2;

/** Covers clock skew between API processes, and the delay between the time of a write and its storage. */
const overlapMs = 5 * 60_000;

const recountMs = 24 * 3_600_000;

const talliedFields = {
  ...{ versionId: 1, status: 1, score: 1, maxScore: 1, stepId: 1, items: 1, stepTimes: 1 },
  finished: 1,
} as const;

type CountedRecord = TalliedRecord & Pick<ProgressRecord, '_id' | 'versionId'>;

/**
 * Counts a lesson's learners. A lesson is divided into parts by the ids of its records. Only parts with records that
 * changed since the last count are read; once a day all are. A part replaces its former counts, so repeating a count
 * after a crash is harmless (idempotent).
 *
 * @returns false if the counts have become invalid meanwhile.
 */
export async function countLesson(
  { db, lessons }: CountDependencies,
  claimed: LessonStatistics,
  { signal, now = new Date(), maxPerPart = defaultMaxPerPart }: CountOptions,
): Promise<boolean> {
  const started = performance.now();
  const lesson = { organizationId: claimed.organizationId, lessonId: claimed._id };
  const { countedUntil, recountedAt } = claimed;
  const isFull =
    countedUntil === null || recountedAt === null || now.getTime() - recountedAt.getTime() >= recountMs;
  const digits = isFull ? await digitsFor(db, lesson, maxPerPart) : claimed.digits;
  const parts = isFull
    ? partsOf(digits)
    : await changedParts(db, lesson, { digits, since: new Date(countedUntil.getTime() - overlapMs) });
  const plans = new Map<string, TallyPlan | null>();
  for (const part of parts) {
    signal.throwIfAborted();
    await savePart(
      db,
      { ...lesson, part },
      await countPart({ db, lessons }, lesson, { part, plans, signal }),
    );
  }
  if (isFull) await keepParts(db, lesson.lessonId, parts);
  if (parts.length > 0) await saveVersions(db, lesson.lessonId);
  return finishStatistics(db, claimed, {
    computedAt: now,
    durationMs: Math.round(performance.now() - started),
    recountedAt: isFull ? now : recountedAt,
    countedUntil: now,
    digits,
  });
}

interface LessonOfOrganization {
  organizationId: string;
  lessonId: string;
}

/** The collections of records, with their indexes by activity. */
function sourcesOf(db: Database) {
  return [
    { model: db.embedProgress as unknown as Model<ProgressRecord>, byActivity: learnerListIndex },
    { model: db.ltiProgress as unknown as Model<ProgressRecord>, byActivity: ltiLearnerListIndex },
  ];
}

async function digitsFor(db: Database, lesson: LessonOfOrganization, maxPerPart: number): Promise<number> {
  const counts = await Promise.all(
    sourcesOf(db).map(({ model }) => model.countDocuments({ ...lesson }).hint(statisticsIndex)),
  );
  const learners = counts.reduce((sum, count) => sum + count, 0);
  let digits = 0;
  while (digits < maxDigits && learners / 16 ** digits > maxPerPart) digits += 1;
  return digits;
}

/** Returns the names of all parts: the leading hexadecimal digits of ids. */
function partsOf(digits: number): string[] {
  return Array.from({ length: 16 ** digits }, (_, part) =>
    digits === 0 ? '' : part.toString(16).padStart(digits, '0'),
  );
}

async function changedParts(
  db: Database,
  lesson: LessonOfOrganization,
  { digits, since }: { digits: number; since: Date },
): Promise<string[]> {
  const parts = new Set<string>();
  for (const { model, byActivity } of sourcesOf(db)) {
    const changed = model
      .find(
        { ...lesson, status: { $in: [...progressStatuses] }, lastActivityAt: { $gte: since } },
        { _id: 1 },
      )
      .hint(byActivity)
      .lean()
      .cursor();
    for await (const { _id } of changed) parts.add(_id.slice(0, digits));
  }
  return [...parts].toSorted();
}

async function countPart(
  { db, lessons }: CountDependencies,
  lesson: LessonOfOrganization,
  { part, plans, signal }: { part: string; plans: Map<string, TallyPlan | null>; signal: AbortSignal },
): Promise<Tallies> {
  const tallies: Tallies = {};
  for (const { model } of sourcesOf(db)) {
    const records = model
      // "g" follows all digits.
      .find({ ...lesson, _id: { $gte: part, $lt: `${part}g` } }, talliedFields)
      .hint(statisticsIndex)
      .lean<CountedRecord>()
      .cursor({ batchSize: 100 });
    for await (const record of records) {
      signal.throwIfAborted();
      const plan = await planOf(lessons, record.versionId, plans);
      if (plan !== null) addLearner((tallies[record.versionId] ??= emptyTally()), plan, record);
    }
  }
  return tallies;
}

/** Returns the plan of a version; null if its content is gone. */
async function planOf(
  lessons: CountDependencies['lessons'],
  versionId: string,
  plans: Map<string, TallyPlan | null>,
): Promise<TallyPlan | null> {
  const known = plans.get(versionId);
  if (known !== undefined) return known;
  const facts = await lessons.facts(versionId);
  const plan = facts === undefined ? null : planTally(facts.outline);
  plans.set(versionId, plan);
  return plan;
}

async function saveVersions(db: Database, lessonId: string): Promise<void> {
  const versions: Tallies = {};
  for await (const part of listParts(db, lessonId)) {
    for (const [versionId, tally] of Object.entries(part as Tallies))
      addTally((versions[versionId] ??= emptyTally()), tally);
  }
  for (const [versionId, tally] of Object.entries(versions))
    await saveVersionTally(db, { lessonId, versionId }, tally);
  await keepVersionTallies(db, lessonId, Object.keys(versions));
}
