import { clearScoresDue, findScoreDue, findScoresDue } from '../../models/lti-progress.ts';
import type { DueScore, LtiLearner } from '../../models/lti-progress.ts';
import type { ScoreValues } from '../../models/lti-score.ts';
import { wantScore } from '../../models/lti-score-changes.ts';
import type { Database } from '../../models/database.ts';
import { fullMarks, gradeOf } from '../../progress/points.ts';
import type { FinishedAttempt } from '../../progress/state.ts';

/** The queue of the outbox of scores. */
export const scoreQueueName = 'lti-scores';

const batchSize = 100;

/** Publishes the score of a learner's record to the outbox, if the outbox may lack it. */
export async function publishScore(db: Database, learner: LtiLearner): Promise<void> {
  const due = await findScoreDue(db, learner);
  if (due !== null) await publish(db, due);
}

/**
 * Publishes the scores of all records that are marked as due: a process may have stopped between saving a record and
 * publishing its score.
 *
 * @param signal ends it after the current record.
 * @returns the number of published records.
 */
export async function publishDueScores(db: Database, signal: AbortSignal): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const batch = await findScoresDue(db, after, batchSize);
    for (const due of batch) {
      if (signal.aborted) return count;
      await publish(db, due);
      after = due.scoresDue;
      count += 1;
    }
    if (batch.length < batchSize) return count;
  }
}

/** Clears the mark last: after a crash in between, the score is published again. */
async function publish(db: Database, due: DueScore): Promise<void> {
  const values = scoreValuesOf(due);
  if (values !== null) await wantScore(db, due, { ...values, revision: due.revision });
  await clearScoresDue(db, due, due.scoresDue);
}

/**
 * Returns the grade of a learner's record: the points of the attempt that was finished last, out of 100. Null before
 * any is finished: a score without points makes platforms clear the grade that they have, even a teacher's.
 */
export function scoreValuesOf({ finished }: { finished?: FinishedAttempt | null }): ScoreValues | null {
  if (!finished) return null;
  return { scoreGiven: gradeOf(finished), scoreMaximum: fullMarks, finishedAt: finished.at };
}
