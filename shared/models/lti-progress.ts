import { randomUUID } from 'node:crypto';
import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, uuidField } from '../platform/mongo.ts';
import type { ProgressState } from '../progress/state.ts';
import { indexProgressEvents, progressEventFields } from '../events/progress-events.ts';
import type { ProgressEventFields } from '../events/progress-events.ts';
import type { EventBacklogDb } from './event-backlog.ts';
import { learnerListIndex, progressFields, saveState, statisticsIndex } from './progress-record.ts';
import type { ProgressRecord, SavedWrite } from './progress-record.ts';

/** A user of an LTI platform in one lesson and one context (course); a launch may have no context. */
export interface LtiLearner {
  organizationId: string;
  lessonId: string;
  platformId: string;
  ltiUserId: string;
  contextId: string | null;
}

/**
 * A user's progress, as the LTI progress endpoint returns it (docs/progress.md). Scores are points here and scaled in
 * the response.
 */
export interface LtiProgress extends ProgressRecord, LtiLearner, ProgressEventFields {
  courseId: string;
  /**
   * Not null while the outbox may lack this state. Each change for the outbox writes another UUID, so that publishing
   * an older state does not clear it.
   */
  scoresDue: string | null;
}

export interface LtiProgressDb extends EventBacklogDb {
  ltiProgress: Model<LtiProgress>;
}

export const ltiLearnerListIndex = { ...learnerListIndex, platformId: 1 } as const;

export const ltiProgressSchema = new Schema<LtiProgress>(
  {
    _id: uuidField,
    ...progressFields,
    platformId: { type: String, required: true },
    ltiUserId: { type: String, required: true },
    contextId: { type: String, default: null },
    courseId: { type: String, required: true },
    scoresDue: { type: String, default: null },
    ...progressEventFields,
  },
  schemaOptions,
);
// A unique index treats null as a value: one record for launches without a context.
ltiProgressSchema.index(
  { organizationId: 1, lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 },
  { unique: true },
);
// For the user's records in all lessons.
ltiProgressSchema.index({ organizationId: 1, platformId: 1, ltiUserId: 1, _id: 1 });
// For requests without a context.
ltiProgressSchema.index({
  ...{ organizationId: 1, lessonId: 1, platformId: 1, ltiUserId: 1 },
  ...{ lastActivityAt: -1, _id: 1 },
});
ltiProgressSchema.index(ltiLearnerListIndex);
ltiProgressSchema.index(statisticsIndex);
indexProgressEvents(ltiProgressSchema);
ltiProgressSchema.index({ scoresDue: 1 }, { partialFilterExpression: { scoresDue: { $type: 'string' } } });

type LearnerQuery = Omit<LtiLearner, 'contextId'> & { contextId?: string | null | undefined };

/** Returns the record of a user, or null before the first write. Without a contextId it returns the last active one. */
export function findLtiProgress(
  db: LtiProgressDb,
  { contextId, ...learner }: LearnerQuery,
): Promise<LtiProgress | null> {
  const { organizationId, lessonId, platformId, ltiUserId } = learner;
  const user = { organizationId, lessonId, platformId, ltiUserId };
  const found =
    contextId === undefined
      ? db.ltiProgress.findOne(user).sort({ lastActivityAt: -1, _id: 1 })
      : db.ltiProgress.findOne({ ...user, contextId });
  return found.lean<LtiProgress>().exec();
}

/** See {@link saveState}. The same write marks the state as due for the outbox. */
export function saveLtiProgress(
  db: LtiProgressDb,
  learner: LtiLearner,
  state: ProgressState,
  { courseId, ...write }: SavedWrite & { courseId: string },
): Promise<boolean> {
  return saveState(db, db.ltiProgress, keyOf(learner), state, write, { courseId, scoresDue: randomUUID() });
}

/** Removes the record of a user in one lesson and one context. */
export async function removeLtiProgress(db: LtiProgressDb, learner: LtiLearner): Promise<void> {
  await db.ltiProgress.deleteOne(keyOf(learner));
}

/** Marks a record, if there is one, as due for the outbox. */
export async function markScoresDue(db: LtiProgressDb, learner: LtiLearner): Promise<void> {
  await db.ltiProgress.updateOne(keyOf(learner), { $set: { scoresDue: randomUUID() } });
}

/** Clears a mark once the outbox has its state. A newer mark stays. */
export async function clearScoresDue(
  db: LtiProgressDb,
  learner: LtiLearner,
  scoresDue: string,
): Promise<void> {
  await db.ltiProgress.updateOne({ ...keyOf(learner), scoresDue }, { $set: { scoresDue: null } });
}

/** The part of a due record that the outbox gets, with its mark. */
export type DueScore = LtiLearner & Pick<LtiProgress, 'revision' | 'finished'> & { scoresDue: string };

const dueFields = {
  ...{ organizationId: 1, lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 },
  ...{ revision: 1, finished: 1, scoresDue: 1 },
} as const;

/** Returns a learner's record if it is due for the outbox; otherwise null. */
export function findScoreDue(db: LtiProgressDb, learner: LtiLearner): Promise<DueScore | null> {
  return db.ltiProgress
    .findOne({ ...keyOf(learner), scoresDue: { $type: 'string' } }, dueFields)
    .lean<DueScore>()
    .exec();
}

/**
 * Returns a batch of due records, in the order of their marks.
 *
 * @param after the last mark of the previous batch.
 */
export function findScoresDue(db: LtiProgressDb, after: string, limit: number): Promise<DueScore[]> {
  return db.ltiProgress
    .find({ scoresDue: { $type: 'string', $gt: after } }, dueFields)
    .sort({ scoresDue: 1 })
    .limit(limit)
    .lean<DueScore[]>()
    .exec();
}

function keyOf({ organizationId, lessonId, platformId, ltiUserId, contextId }: LtiLearner): LtiLearner {
  return { organizationId, lessonId, platformId, ltiUserId, contextId };
}
