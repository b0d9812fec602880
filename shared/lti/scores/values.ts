import type { ScoreValues } from '../../models/lti-score.ts';
import { fullMarks, shareOf } from '../../progress/score.ts';
import type { FinishedAttempt } from '../../progress/state.ts';

/**
 * What a learner's record is to a platform: the points of the attempt that was finished last, out of 100. Null until
 * there is one: a score without points has platforms clear the grade that they have, whoever gave it.
 */
export function scoreValuesOf({ finished }: { finished?: FinishedAttempt | null }): ScoreValues | null {
  if (!finished) return null;
  return { scoreGiven: shareOf(finished), scoreMaximum: fullMarks, finishedAt: finished.at };
}
