import type { Model } from 'mongoose';
import { progressStatuses } from '../progress/state.ts';
import type { EmbedProgressDb } from './embed-progress.ts';
import type { RecordKind, LearnerRecordsDb } from './learner-records.ts';
import { ltiLearnerListIndex } from './lti-progress.ts';
import type { LtiScore } from './lti-score.ts';
import { learnerListIndex } from './progress-record.ts';
import type { ProgressRecord } from './progress-record.ts';

/*
 * Finds records of each kind that are older than a time, through existing indexes: another index would make each write
 * of a learner slower.
 */

export type ExpiredDb = EmbedProgressDb & LearnerRecordsDb;

/** Records of a lesson, or of no particular one. */
export interface ExpiredBatch {
  ids: string[];
  lessonIds: string[];
  /** The position for a search that continues after a partly removed batch; null for the beginning. */
  position: string | null;
}

interface Selection {
  organizationId: string;
  /** Records up to this time have expired. */
  until: Date;
  /** The maximum number of records in a batch. */
  batch: number;
  /** Ends a search early, with its reason as the error. */
  signal?: AbortSignal | undefined;
}

interface Kind {
  /**
   * Yields expired records. A consumer removes each batch before it takes the next one.
   *
   * @param from a position at which the search begins. After the end, it searches from the beginning up to there.
   */
  list: (db: ExpiredDb, selection: Selection, from?: string | null) => AsyncGenerator<ExpiredBatch>;
  /** Counts them, up to a limit. */
  count: (db: ExpiredDb, selection: Selection & { limit: number }) => Promise<number>;
  /** Removes those of a batch that are still expired. */
  remove: (db: ExpiredDb, selection: Selection, ids: readonly string[]) => Promise<void>;
}

/** How records of each kind expire. The compiler requires an entry for a new kind. */
export const expiry: Record<RecordKind, Kind> = {
  progress: progressExpiry(
    ({ embedProgress }) => embedProgress as unknown as ProgressModel,
    learnerListIndex,
  ),
  ltiProgress: progressExpiry(
    ({ ltiProgress }) => ltiProgress as unknown as ProgressModel,
    ltiLearnerListIndex,
  ),
  grades: {
    async *list(db, { organizationId, until, batch, signal }, from = null) {
      const start = from === null ? null : new Date(from);
      const ranges = start === null ? [{}] : [{ $gte: start }, { $lt: start }];
      for (const range of ranges) {
        const selection = { organizationId, createdAt: { ...range, $lte: until }, batch };
        for (let after: ScorePage | null = null; ;) {
          signal?.throwIfAborted();
          const page: ScorePage[] = await oldScores(db, selection, after);
          const ids = await withoutProgress(db, page);
          const [first] = page;
          if (first !== undefined && ids.length > 0)
            yield { ids, lessonIds: [], position: first.createdAt.toISOString() };
          const last = page.at(-1);
          if (last === undefined || page.length < batch) break;
          after = last;
        }
      }
    },
    async count(db, { limit, ...selection }) {
      let count = 0;
      for await (const { ids } of expiry.grades.list(db, selection)) {
        count += ids.length;
        if (count >= limit) return limit;
      }
      return count;
    },
    async remove(db, { organizationId, until }, ids) {
      const isExpired = { organizationId, state: { $in: [...settledStates] }, createdAt: { $lte: until } };
      const scores = await db.ltiScores
        .find({ _id: { $in: [...ids] }, ...isExpired }, scoreFields)
        .hint({ _id: 1 })
        .lean<ScorePage[]>()
        .exec();
      // The learner may have returned since the batch was listed.
      const expired = await withoutProgress(db, scores);
      await db.ltiScores.deleteMany({ _id: { $in: expired }, ...isExpired }, { hint: { _id: 1 } });
    },
  },
  deliveries: olderThan(({ eventDeliveries }) => eventDeliveries as unknown as AnyModel, 'createdAt'),
  pendingEvents: olderThan(({ eventBacklog }) => eventBacklog as unknown as AnyModel, 'event.at'),
};

type AnyModel = Model<{ _id: string }>;
type ProgressModel = Model<ProgressRecord>;

/** Records whose time is in a field that follows the organization in an index. */
function olderThan(modelOf: (db: ExpiredDb) => AnyModel, field: string): Kind {
  const filterOf = ({ organizationId, until }: Selection) => ({ organizationId, [field]: { $lte: until } });
  return {
    async *list(db, selection) {
      for (;;) {
        const found = await modelOf(db)
          .find(filterOf(selection), { _id: 1 })
          .limit(selection.batch)
          .lean<{ _id: string }[]>()
          .exec();
        if (found.length > 0) yield { ids: found.map(({ _id }) => _id), lessonIds: [], position: null };
        if (found.length < selection.batch) return;
      }
    },
    count: (db, { limit, ...selection }) => modelOf(db).countDocuments(filterOf(selection), { limit }).exec(),
    async remove(db, selection, ids) {
      await modelOf(db).deleteMany({ ...filterOf(selection), _id: { $in: [...ids] } });
    },
  };
}

/** Progress expires by the last activity. The search uses the index of the list of learners, lesson by lesson. */
function progressExpiry(
  modelOf: (db: ExpiredDb) => ProgressModel,
  index: Readonly<Record<string, 1 | -1>>,
): Kind {
  const filterOf = ({ organizationId, until }: Selection, lessonId: string) => ({
    ...{ organizationId, lessonId, status: { $in: [...progressStatuses] } },
    lastActivityAt: { $lte: until },
  });
  /** Yields the lessons with records, with one query for each, however many records it has. */
  async function* lessonsWithRecords(
    db: ExpiredDb,
    { organizationId, signal }: Selection,
    from: string | null = null,
  ): AsyncGenerator<string> {
    const ranges: { $gt?: string; $gte?: string; $lt?: string }[] =
      from === null ? [{}] : [{ $gte: from }, { $lt: from }];
    for (const range of ranges) {
      for (let lessonId = { $gt: '', ...range }; ;) {
        signal?.throwIfAborted();
        const next = await modelOf(db)
          .findOne({ organizationId, lessonId }, { _id: 0, lessonId: 1 })
          .sort({ lessonId: 1 })
          .hint(index)
          .lean<Pick<ProgressRecord, 'lessonId'>>()
          .exec();
        if (next === null) break;
        yield next.lessonId;
        lessonId = { ...lessonId, $gt: next.lessonId };
      }
    }
  }
  return {
    async *list(db, selection, from) {
      for await (const lessonId of lessonsWithRecords(db, selection, from)) {
        for (;;) {
          const found = await modelOf(db)
            .find(filterOf(selection, lessonId), { _id: 1 })
            .hint(index)
            .limit(selection.batch)
            .lean<{ _id: string }[]>()
            .exec();
          if (found.length > 0)
            yield { ids: found.map(({ _id }) => _id), lessonIds: [lessonId], position: lessonId };
          if (found.length < selection.batch) break;
        }
      }
    },
    async count(db, { limit, ...selection }) {
      let count = 0;
      for await (const lessonId of lessonsWithRecords(db, selection)) {
        const options = { limit: limit - count, hint: index };
        count += await modelOf(db).countDocuments(filterOf(selection, lessonId), options).exec();
        if (count >= limit) return limit;
      }
      return count;
    },
    async remove(db, { organizationId, until }, ids) {
      await modelOf(db).deleteMany({
        ...{ _id: { $in: [...ids] }, organizationId },
        lastActivityAt: { $lte: until },
      });
    },
  };
}

/** The states of grades that do not wait to be sent. */
const settledStates = ['idle', 'failed'] as const;

type ScorePage = Pick<
  LtiScore,
  '_id' | 'createdAt' | 'organizationId' | 'lessonId' | 'platformId' | 'ltiUserId' | 'contextId'
>;

const scoreFields = {
  ...{ createdAt: 1, organizationId: 1, lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 },
} as const;

/** Returns the oldest scores of a period, after a given score. */
function oldScores(
  db: ExpiredDb,
  { organizationId, createdAt, batch }: { organizationId: string; createdAt: object; batch: number },
  after: Pick<LtiScore, 'createdAt' | '_id'> | null,
): Promise<ScorePage[]> {
  const later =
    after === null
      ? {}
      : {
          $and: [{ createdAt: { $gte: after.createdAt } }],
          $or: [
            { createdAt: { $gt: after.createdAt } },
            { createdAt: after.createdAt, _id: { $lt: after._id } },
          ],
        };
  return db.ltiScores
    .find({ organizationId, state: { $in: settledStates }, createdAt, ...later })
    .select(scoreFields)
    .hint({ organizationId: 1, state: 1, createdAt: -1, _id: 1 })
    .sort({ createdAt: 1, _id: -1 })
    .limit(batch)
    .lean<ScorePage[]>()
    .exec();
}

/**
 * Returns the ids of scores whose learner no longer has a record of the lesson. Scores of existing records stay:
 * without them, the next launch would send the score again and replace a teacher's change in the gradebook.
 */
async function withoutProgress(db: ExpiredDb, scores: readonly ScorePage[]): Promise<string[]> {
  if (scores.length === 0) return [];
  const keys = scores.map(({ organizationId, lessonId, platformId, ltiUserId, contextId }) => ({
    ...{ organizationId, lessonId, platformId, ltiUserId, contextId },
  }));
  const nameOf = ({ lessonId, platformId, ltiUserId, contextId }: Omit<ScorePage, '_id' | 'createdAt'>) =>
    JSON.stringify([lessonId, platformId, ltiUserId, contextId]);
  const records = await db.ltiProgress
    .find({ $or: keys }, { lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 })
    .lean<ScorePage[]>()
    .exec();
  const kept = new Set(records.map(nameOf));
  return scores.filter((score) => !kept.has(nameOf(score))).map(({ _id }) => _id);
}
