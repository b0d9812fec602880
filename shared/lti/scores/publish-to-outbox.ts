import type { Database } from '../../models/database.ts';
import { clearScoresDue, findScoreDue, findScoresDue } from '../../models/lti-progress.ts';
import type { DueScore, LtiLearner } from '../../models/lti-progress.ts';
import { wantScore } from '../../models/lti-score-changes.ts';
import { scoreValuesOf } from './values.ts';

const batchSize = 100;

/** Writes the score of a learner's record into its outbox rows, if the record is marked as due. */
export async function publishScore(db: Database, learner: LtiLearner): Promise<void> {
  const due = await findScoreDue(db, learner);
  if (due !== null) await publish(db, due);
}

/**
 * Publishes the scores of all records marked as due: a process may end between saving a record and publishing it.
 *
 * @param signal stops after the current record.
 * @returns the number of records.
 */
export async function publishDueScores(db: Database, signal: AbortSignal): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const found = await findScoresDue(db, after, batchSize);
    for (const due of found) {
      if (signal.aborted) return count;
      await publish(db, due);
      after = due.scoresDue;
      count += 1;
    }
    if (found.length < batchSize) return count;
  }
}

/** Clears the mark last: a process that ends in between leaves it, and publishing twice is harmless. */
async function publish(db: Database, due: DueScore): Promise<void> {
  const values = scoreValuesOf(due);
  if (values !== null) await wantScore(db, due, { ...values, revision: due.revision });
  await clearScoresDue(db, due, due.scoresDue);
}
