import { Schema } from 'mongoose';
import { schemaOptions, uuidField } from '../mongo.ts';
import type { ProgressState } from '../progress/state.ts';
import type { Database } from './database.ts';
import { progressFields, saveState } from './progress-record.ts';
import type { ProgressRecord } from './progress-record.ts';

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
}

export const ltiProgressSchema = new Schema<LtiProgress>(
  {
    _id: uuidField,
    ...progressFields,
    platformId: { type: String, required: true },
    ltiUserId: { type: String, required: true },
    contextId: { type: String, default: null },
    courseId: { type: String, required: true },
  },
  schemaOptions,
);
// A unique index holds null as a value like any other: one record for launches without a context.
ltiProgressSchema.index(
  { organizationId: 1, lessonId: 1, platformId: 1, ltiUserId: 1, contextId: 1 },
  { unique: true },
);

/** The record of a user, or null before the first write. Without a contextId the one that was active last. */
export function findLtiProgress(
  db: Database,
  { contextId, ...learner }: Omit<LtiLearner, 'contextId'> & { contextId?: string | null | undefined },
): Promise<LtiProgress | null> {
  const { organizationId, lessonId, platformId, ltiUserId } = learner;
  return db.ltiProgress
    .findOne({
      organizationId,
      lessonId,
      platformId,
      ltiUserId,
      ...(contextId !== undefined && { contextId }),
    })
    .sort({ lastActivityAt: -1, _id: 1 })
    .lean<LtiProgress>()
    .exec();
}

/** See {@link saveState}. */
export function saveLtiProgress(
  db: Database,
  { organizationId, lessonId, platformId, ltiUserId, contextId }: LtiLearner,
  state: ProgressState,
  { writeId, courseId }: { writeId: string | undefined; courseId: string },
): Promise<boolean> {
  const key = { organizationId, lessonId, platformId, ltiUserId, contextId };
  return saveState(db.ltiProgress, key, state, writeId, { courseId });
}
