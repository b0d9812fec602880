import type { Database } from '../../models/database.ts';
import { clearScoresDue, findScoreDue, findScoresDue } from '../../models/lti-progress.ts';
import type { DueScore, LtiLearner } from '../../models/lti-progress.ts';
import { wantScore } from '../../models/lti-score-changes.ts';
import { scoreValuesOf } from './values.ts';

const atOnce = 100;

/** Tells the outbox the score of a learner's record, if it may lack it. */
export async function passOnScore(db: Database, learner: LtiLearner): Promise<void> {
  const due = await findScoreDue(db, learner);
  if (due !== null) await passOn(db, due);
}

/**
 * Does so for all records: whoever wrote one may have ended before the outbox heard of it.
 *
 * @param signal ends it after the record that it is at.
 * @returns how many there were.
 */
export async function passOnDueScores(db: Database, signal: AbortSignal): Promise<number> {
  let count = 0;
  let behind = '';
  for (;;) {
    const found = await findScoresDue(db, behind, atOnce);
    for (const due of found) {
      if (signal.aborted) return count;
      await passOn(db, due);
      behind = due.scoresDue;
      count += 1;
    }
    if (found.length < atOnce) return count;
  }
}

/** The mark goes last: whoever ends in between leaves it, and the same is told again. */
async function passOn(db: Database, due: DueScore): Promise<void> {
  const values = scoreValuesOf(due);
  if (values !== null) await wantScore(db, due, { ...values, revision: due.revision });
  await clearScoresDue(db, due, due.scoresDue);
}
