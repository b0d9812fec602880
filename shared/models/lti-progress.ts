import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, uuidField } from '../platform/mongo.ts';
import type { ProgressState } from '../progress/state.ts';
import { headProjection, progressFields, saveState } from './progress-record.ts';
import type { ProgressRecord, RecordHead } from './progress-record.ts';

/** A user of an LTI platform, in one lesson and one context (course); a launch may come without a context. */
export interface LtiLearner {
  organizationId: string;
  lessonId: string;
  platformId: string;
  ltiUserId: string;
  contextId: string | null;
}

/** The contract's 2.2. Scores are points here, as in embed progress; they are scaled where they are presented. */
export interface LtiProgress extends ProgressRecord, LtiLearner {
  courseId: string;
  /**
   * Not null while the outbox of scores may lack this state. Each change that it has to hear of writes another UUID,
   * so that who has told it clears no more than it told.
   */
  scoresDue: string | null;
}

/** The part of the database that these operations use. */
export interface LtiProgressDb {
  ltiProgress: Model<LtiProgress>;
}

export const ltiProgressSchema = new Schema<LtiProgress>(
  {
    _id: uuidField,
    ...progressFields,
    platformId: { type: String, required: true },
    ltiUserId: { type: String, required: true },
    contextId: { type: String, default: null },
    courseId: { type: String, required: true },
    scoresDue: { type: String, default: null },
  },
  schemaOptions,
);
// A unique index holds null as a value like any other: one record for launches without a context.
ltiProgressSchema.index(
  { organizationId: 1, lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 },
  { unique: true },
);
ltiProgressSchema.index({ scoresDue: 1 }, { partialFilterExpression: { scoresDue: { $type: 'string' } } });

type AskedLearner = Omit<LtiLearner, 'contextId'> & { contextId?: string | null | undefined };

/** Returns the record of a user, or null before the first write. Without a contextId the one that was active last. */
export function findLtiProgress(db: LtiProgressDb, learner: AskedLearner): Promise<LtiProgress | null> {
  return findRecord(db, learner).lean<LtiProgress>().exec();
}

/** As {@link findLtiProgress}, without large JSON texts (see {@link headProjection}). */
export function findLtiHead(
  db: LtiProgressDb,
  learner: AskedLearner,
): Promise<RecordHead<LtiProgress> | null> {
  return findRecord(db, learner)
    .select({ ...headProjection, platformId: 1, ltiUserId: 1, contextId: 1, courseId: 1 })
    .lean<RecordHead<LtiProgress>>()
    .exec();
}

function findRecord(db: LtiProgressDb, { contextId, ...learner }: AskedLearner) {
  const { organizationId, lessonId, platformId, ltiUserId } = learner;
  return db.ltiProgress
    .findOne({
      organizationId,
      lessonId,
      platformId,
      ltiUserId,
      ...(contextId !== undefined && { contextId }),
    })
    .sort({ lastActivityAt: -1, _id: 1 });
}

/** See {@link saveState}. The same write notes that the outbox of scores lacks the state. */
export function saveLtiProgress(
  db: LtiProgressDb,
  learner: LtiLearner,
  state: ProgressState,
  { writeId, courseId }: { writeId: string | undefined; courseId: string },
): Promise<boolean> {
  return saveState(db.ltiProgress, keyOf(learner), state, writeId, { courseId, scoresDue: randomUUID() });
}

/** Notes that the outbox of scores may lack the state of a record, if there is one. */
export async function markScoresDue(db: LtiProgressDb, learner: LtiLearner): Promise<void> {
  await db.ltiProgress.updateOne(keyOf(learner), { $set: { scoresDue: randomUUID() } });
}

/** Notes that the outbox has what a mark was about. Nothing changes where there is a newer mark. */
export async function clearScoresDue(
  db: LtiProgressDb,
  learner: LtiLearner,
  scoresDue: string,
): Promise<void> {
  await db.ltiProgress.updateOne({ ...keyOf(learner), scoresDue }, { $set: { scoresDue: null } });
}

/** What the outbox of scores is told of a record, and the mark that says it may lack this. */
export type DueScore = LtiLearner & Pick<LtiProgress, 'revision' | 'finished'> & { scoresDue: string };

const dueFields = {
  ...{ organizationId: 1, lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 },
  ...{ revision: 1, finished: 1, scoresDue: 1 },
} as const;

/** What the outbox of scores may lack of a learner's record; null when nothing. */
export function findScoreDue(db: LtiProgressDb, learner: LtiLearner): Promise<DueScore | null> {
  return db.ltiProgress
    .findOne({ ...keyOf(learner), scoresDue: { $type: 'string' } }, dueFields)
    .lean<DueScore>()
    .exec();
}

/** What the outbox may lack, of a few records at a time: those behind the mark that was read last. */
export function findScoresDue(db: LtiProgressDb, behind: string, limit: number): Promise<DueScore[]> {
  return db.ltiProgress
    .find({ scoresDue: { $type: 'string', $gt: behind } }, dueFields)
    .sort({ scoresDue: 1 })
    .limit(limit)
    .lean<DueScore[]>()
    .exec();
}

function keyOf({ organizationId, lessonId, platformId, ltiUserId, contextId }: LtiLearner): LtiLearner {
  return { organizationId, lessonId, platformId, ltiUserId, contextId };
}
