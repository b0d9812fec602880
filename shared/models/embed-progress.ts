import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions, uuidField } from '../platform/mongo.ts';
import type { ProgressState } from '../progress/state.ts';
import { batched } from './batched.ts';
import { learnerListIndex, progressFields, saveState, statisticsIndex } from './progress-record.ts';
import type { ProgressRecord, SavedWrite } from './progress-record.ts';

/** A learner of an integrator, in one lesson. */
export interface EmbedLearner {
  organizationId: string;
  lessonId: string;
  learnerId: string;
}

/** A learner's progress, as the progress endpoint returns it (docs/progress.md). */
export interface EmbedProgress extends ProgressRecord, EmbedLearner {}

export interface EmbedProgressDb {
  embedProgress: Model<EmbedProgress>;
}

export const embedProgressSchema = new Schema<EmbedProgress>(
  {
    _id: uuidField,
    ...progressFields,
    learnerId: { type: String, required: true },
  },
  schemaOptions,
);
embedProgressSchema.index({ organizationId: 1, lessonId: 1, learnerId: 1 }, { unique: true });
embedProgressSchema.index(learnerListIndex);
embedProgressSchema.index(statisticsIndex);
// For the learner's records in all lessons.
embedProgressSchema.index({ organizationId: 1, learnerId: 1, _id: 1 });

/** Returns the record of a learner, or null before the first write. */
export const findEmbedProgress = batched(async (db: EmbedProgressDb, learners: readonly EmbedLearner[]) => {
  const found = await db.embedProgress
    .find({ $or: learners.map(keyOf) })
    .lean<EmbedProgress[]>()
    .exec();
  const byLearner = new Map(found.map((record) => [nameOf(record), record]));
  return (learner) => byLearner.get(nameOf(learner)) ?? null;
});

/** Removes the record of a learner in one lesson. */
export async function removeEmbedProgress(db: EmbedProgressDb, learner: EmbedLearner): Promise<void> {
  await db.embedProgress.deleteOne(keyOf(learner));
}

function keyOf({ organizationId, lessonId, learnerId }: EmbedLearner): EmbedLearner {
  return { organizationId, lessonId, learnerId };
}

function nameOf({ organizationId, lessonId, learnerId }: EmbedLearner): string {
  return JSON.stringify([organizationId, lessonId, learnerId]);
}

/** See {@link saveState}. */
export function saveEmbedProgress(
  db: EmbedProgressDb,
  learner: EmbedLearner,
  state: ProgressState,
  write: SavedWrite,
): Promise<boolean> {
  return saveState(db.embedProgress, keyOf(learner), state, write);
}
