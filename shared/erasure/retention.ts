import type { Model } from 'mongoose';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Database } from '../models/database.ts';
import { areNone, noRecords, recordKinds } from '../models/learner-records.ts';
import type { RecordCounts, RecordKind } from '../models/learner-records.ts';
import { forgetStatistics } from '../models/lesson-statistics.ts';
import { ltiLearnerListIndex } from '../models/lti-progress.ts';
import type { LtiScore } from '../models/lti-score.ts';
import { learnerListIndex } from '../models/progress-record.ts';
import { claimRun, endRun } from '../models/retention.ts';
import type { Retention } from '../models/retention.ts';
import { progressStatuses } from '../progress/state.ts';

const dayMs = 24 * 3600_000;

/** The maximum number of records that one operation removes, so that others do not wait long. */
const batchSize = 500;

/** The number of grades whose progress one query looks up. */
const gradeBatchSize = 100;

/**
 * Runs the retention that has been due the longest, and reports it in the audit log. A run whose worker is killed is
 * repeated: the records that are left go then, and are reported.
 *
 * @returns false if none was due.
 * @throws {Error} if MongoDB does not respond.
 */
export async function runRetention(
  { db, audit }: { db: Database; audit: Pick<AuditLog, 'recordNow'> },
  signal: AbortSignal,
): Promise<boolean> {
  const run = await claimRun(db);
  if (run === null) return false;
  const removed = { ...noRecords };
  try {
    await removeExpired(db, run, { removed, isDryRun: false, signal });
  } finally {
    if (!areNone(removed)) {
      await audit.recordNow(run._id, {
        action: 'retention.run',
        actor: { type: 'system', id: 'retention' },
        target: { type: 'organization', id: run._id },
        details: removed,
        ...{ ip: null, requestId: null },
      });
    }
  }
  await endRun(db, run);
  return true;
}

/**
 * Removes the records of an organization that have expired, or only counts them.
 *
 * @param options.removed gets the counts, also of a run that fails.
 */
export async function removeExpired(
  db: Database,
  { _id: organizationId, days }: Pick<Retention, '_id' | 'days'>,
  { removed, isDryRun, signal }: { removed: RecordCounts; isDryRun: boolean; signal: AbortSignal },
): Promise<void> {
  const now = Date.now();
  for (const kind of recordKinds) {
    const kept = days[kind];
    if (kept === null) continue;
    const until = new Date(now - kept * dayMs);
    for await (const selection of expiredOf[kind](db, organizationId, until)) {
      const { records, filter, hint, lessonId } = selection;
      signal.throwIfAborted();
      const before = removed[kind];
      if (isDryRun) removed[kind] += await records.countDocuments(filter, { hint });
      else for await (const count of removeAll(selection, signal)) removed[kind] += count;
      const hasChanged = !isDryRun && removed[kind] > before;
      if (hasChanged && lessonId !== undefined) await forgetStatistics(db, [lessonId]);
    }
  }
}

/** Records that have expired, with an index that finds them. */
interface Selection {
  records: Model<never>['collection'];
  filter: object;
  hint: Record<string, 1 | -1>;
  lessonId?: string;
}

/** Removes records in batches; yields their numbers. */
async function* removeAll({ records, filter, hint }: Selection, signal: AbortSignal): AsyncGenerator<number> {
  for (let found = batchSize; found === batchSize;) {
    signal.throwIfAborted();
    const options = { projection: { _id: 1 }, hint, limit: batchSize };
    const ids = (await records.find(filter, options).toArray()).map(({ _id }) => _id);
    found = ids.length;
    // A learner who has returned meanwhile keeps the record.
    const isExpired = { ...filter, _id: { $in: ids } };
    if (found > 0) yield (await records.deleteMany(isExpired, { hint: { _id: 1 } })).deletedCount;
  }
}

/** How records of each kind expire. The compiler requires an entry for a new kind. */
const expiredOf: Record<
  RecordKind,
  (db: Database, organizationId: string, until: Date) => AsyncIterable<Selection> | Selection[]
> = {
  progress: ({ embedProgress }, ...selection) =>
    expiredProgress(embedProgress.collection, learnerListIndex, ...selection),
  ltiProgress: ({ ltiProgress }, ...selection) =>
    expiredProgress(ltiProgress.collection, ltiLearnerListIndex, ...selection),
  grades: expiredGrades,
  deliveries: ({ eventDeliveries }, organizationId, until) => [
    {
      records: eventDeliveries.collection,
      filter: { organizationId, createdAt: { $lte: until } },
      hint: { organizationId: 1, createdAt: -1, _id: 1 },
    },
  ],
};

/** Progress expires by the last activity, lesson by lesson: an index for it would make each write of a learner slower. */
async function* expiredProgress(
  records: Selection['records'],
  hint: Selection['hint'],
  organizationId: string,
  until: Date,
): AsyncGenerator<Selection> {
  for (const lessonId of (await records.distinct('lessonId', { organizationId })) as string[]) {
    const status = { $in: [...progressStatuses] };
    const filter = { organizationId, lessonId, status, lastActivityAt: { $lte: until } };
    yield { records, filter, hint, lessonId };
  }
}

type Grade = Pick<LtiScore, '_id' | 'lessonId' | 'platformId' | 'ltiUserId' | 'contextId'>;
const gradeFields = { lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 } as const;

/**
 * Grades expire once they do not wait to be sent and the learner has no record of the lesson. Otherwise, the next launch
 * would send the grade again, and replace a teacher's change in the gradebook.
 */
async function* expiredGrades(db: Database, organizationId: string, until: Date): AsyncGenerator<Selection> {
  const old = { organizationId, state: { $in: ['idle', 'failed'] as const }, createdAt: { $lte: until } };
  const hint = { organizationId: 1, state: 1, createdAt: -1, _id: 1 } as const;
  const grades = db.ltiScores.find(old, gradeFields).hint(hint).lean<Grade>().cursor({ batchSize });
  const select = async (batch: readonly Grade[]): Promise<Selection> => ({
    records: db.ltiScores.collection,
    filter: { ...old, _id: { $in: await withoutProgress(db, organizationId, batch) } },
    hint: { _id: 1 },
  });
  const batch: Grade[] = [];
  for await (const grade of grades) {
    batch.push(grade);
    if (batch.length === gradeBatchSize) yield await select(batch.splice(0));
  }
  if (batch.length > 0) yield await select(batch);
}

async function withoutProgress(
  db: Database,
  organizationId: string,
  grades: readonly Grade[],
): Promise<string[]> {
  const keyOf = ({ lessonId, platformId, ltiUserId, contextId }: Omit<Grade, '_id'>) => ({
    ...{ organizationId, lessonId, platformId, ltiUserId, contextId },
  });
  const records = await db.ltiProgress
    .find({ $or: grades.map(keyOf) }, gradeFields)
    .lean<Grade[]>()
    .exec();
  const kept = new Set(records.map((record) => JSON.stringify(keyOf(record))));
  return grades.filter((grade) => !kept.has(JSON.stringify(keyOf(grade)))).map(({ _id }) => _id);
}
