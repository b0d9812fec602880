import type { ScoreValues } from '../../models/lti-score.ts';
import { scaledTo100 } from '../../progress/score.ts';
import type { ProgressState } from '../../progress/state.ts';

const fullMarks = 100;

/**
 * What a learner's record is to a platform: a score out of 100, zero where nothing was answered, and full marks where
 * nothing could be gained. Null until the lesson is completed: a score without points has platforms clear the grade
 * that they have, whoever gave it.
 */
export function scoreValuesOf({
  status,
  score,
  maxScore,
}: Pick<ProgressState, 'status' | 'score' | 'maxScore'>): ScoreValues | null {
  if (status !== 'completed') return null;
  const scaled = scaledTo100(score, maxScore);
  const scoreGiven = scaled.maxScore === null ? fullMarks : (scaled.score ?? 0);
  return { scoreGiven, scoreMaximum: fullMarks };
}
