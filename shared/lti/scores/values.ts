import type { ScoreValues } from '../../models/lti-score.ts';
import { fullMarks, shareOf } from '../../progress/score.ts';
import type { FinishedAttempt } from '../../progress/state.ts';

/**
 * Returns the score of the attempt that the learner finished last, out of 100. Null before the first: a score without
 * points makes platforms clear the grade in their gradebook, even one that a teacher entered.
 */
export function scoreValuesOf({ finished }: { finished?: FinishedAttempt | null }): ScoreValues | null {
  if (!finished) return null;
  return { scoreGiven: shareOf(finished), scoreMaximum: fullMarks, finishedAt: finished.at };
}
