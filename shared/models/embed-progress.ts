import { Schema } from 'mongoose';
import { schemaOptions, uuidField } from '../mongo.ts';
import type { ProgressState } from '../progress/state.ts';
import { batched } from './batched.ts';
import type { Database } from './database.ts';
import { progressFields, saveState } from './progress-record.ts';
import type { ProgressRecord } from './progress-record.ts';

/** A learner of an integrator, in one lesson. */
export interface EmbedLearner {
  organizationId: string;
  lessonId: string;
  learnerId: string;
}

/** The contract's 2.1. */
export interface EmbedProgress extends ProgressRecord, EmbedLearner {
  /** A JSON object, as text: that of the token which wrote last. */
  userAttributes: string | null;
}

export const embedProgressSchema = new Schema<EmbedProgress>(
  {
    _id: uuidField,
    ...progressFields,
    learnerId: { type: String, required: true },
    userAttributes: { type: String, default: null },
  },
  schemaOptions,
);
embedProgressSchema.index({ organizationId: 1, lessonId: 1, learnerId: 1 }, { unique: true });

/** The record of a learner, or null before the first write. */
export const findEmbedProgress = batched(async (db, learners: readonly EmbedLearner[]) => {
  const records = await db.embedProgress
    .find({
      $or: learners.map(({ organizationId, lessonId, learnerId }) => ({
        organizationId,
        lessonId,
        learnerId,
      })),
    })
    .lean<EmbedProgress[]>()
    .exec();
  const byLearner = new Map(records.map((record) => [nameOf(record), record]));
  return (learner) => byLearner.get(nameOf(learner)) ?? null;
});

function nameOf({ organizationId, lessonId, learnerId }: EmbedLearner): string {
  return JSON.stringify([organizationId, lessonId, learnerId]);
}

/** See {@link saveState}. */
export function saveEmbedProgress(
  db: Database,
  { organizationId, lessonId, learnerId }: EmbedLearner,
  state: ProgressState,
  { writeId, userAttributes }: { writeId: string | undefined; userAttributes: string },
): Promise<boolean> {
  const key = { organizationId, lessonId, learnerId };
  return saveState(db.embedProgress, key, state, writeId, { userAttributes });
}
