import type { Database } from '../../models/database.ts';
import { askForGrade } from '../../models/lti-progress.ts';
import type { LtiLearner } from '../../models/lti-progress.ts';
import type { ScoreValues, WantedScore } from '../../models/lti-score.ts';
import { wantScore } from '../../models/lti-score-changes.ts';
import { inTransaction } from '../../platform/mongo.ts';
import { fullMarks, gradeOf } from '../../progress/points.ts';
import type { FinishedAttempt, ProgressState } from '../../progress/state.ts';

/**
 * Returns the grade of a learner's record: the points of the attempt that was finished last, out of 100. Null before
 * any is finished: a score without points makes platforms clear the grade that they have, even a teacher's.
 */
export function scoreValuesOf({ finished }: { finished: FinishedAttempt | null }): ScoreValues | null {
  if (!finished) return null;
  return { scoreGiven: gradeOf(finished), scoreMaximum: fullMarks, finishedAt: finished.at };
}

/** Returns the grade that platforms should get because of a write; null if it changes none. */
export function changedGrade(before: ProgressState, next: ProgressState): WantedScore | null {
  const values = scoreValuesOf(next);
  if (values === null) return null;
  const old = scoreValuesOf(before);
  const isSame =
    old?.scoreGiven === values.scoreGiven && old.finishedAt.getTime() === values.finishedAt.getTime();
  return isSame ? null : { ...values, revision: next.revision };
}

/** Gives the rows of a learner's record in the outbox its grade, if there is one. */
export async function wantGradeOfRecord(db: Database, learner: LtiLearner): Promise<void> {
  await inTransaction(db.connection, async (session) => {
    const record = await askForGrade(db, learner, session);
    const values = record && scoreValuesOf(record);
    if (values) await wantScore(db, learner, { ...values, revision: record.revision }, session);
  });
}
