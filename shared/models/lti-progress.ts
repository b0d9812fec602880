import { Schema } from 'mongoose';
import type { ClientSession, Model } from 'mongoose';
import { schemaOptions, uuidField } from '../platform/mongo.ts';
import type { ProgressState } from '../progress/state.ts';
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
export interface LtiProgress extends ProgressRecord, LtiLearner {
  courseId: string;
  /** When a launch last asked for the record's grade; null before the first. */
  gradeAskedAt: Date | null;
}

export interface LtiProgressDb {
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
    gradeAskedAt: { type: Date, default: null },
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

/** See {@link saveState}. */
export function saveLtiProgress(
  db: LtiProgressDb,
  learner: LtiLearner,
  state: ProgressState,
  { courseId, ...write }: SavedWrite & { courseId: string },
): Promise<boolean> {
  return saveState(db.ltiProgress, keyOf(learner), state, write, { courseId });
}

/** Removes the record of a user in one lesson and one context. */
export async function removeLtiProgress(db: LtiProgressDb, learner: LtiLearner): Promise<void> {
  await db.ltiProgress.deleteOne(keyOf(learner));
}

/**
 * Returns a learner's record; null if there is none. It also writes the record: a concurrent transaction that finishes an
 * attempt then conflicts with this one, and one of the two sees what the other has done.
 */
export function askForGrade(
  db: LtiProgressDb,
  learner: LtiLearner,
  session: ClientSession,
): Promise<Pick<LtiProgress, 'revision' | 'finished'> | null> {
  return db.ltiProgress
    .findOneAndUpdate(
      keyOf(learner),
      { $set: { gradeAskedAt: new Date() } },
      { session, projection: { revision: 1, finished: 1 } },
    )
    .lean<Pick<LtiProgress, 'revision' | 'finished'>>()
    .exec();
}

function keyOf({ organizationId, lessonId, platformId, ltiUserId, contextId }: LtiLearner): LtiLearner {
  return { organizationId, lessonId, platformId, ltiUserId, contextId };
}
