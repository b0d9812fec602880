import type { LineItem, Score } from './model.ts';

/** A score on the scale of its line item; none until it is fully graded. */
export function gradeOf({ scoreMaximum }: LineItem, score: Score): number | null {
  if (score.gradingProgress !== 'FullyGraded' || score.scoreGiven === null) return null;
  return (score.scoreGiven / (score.scoreMaximum ?? 1)) * scoreMaximum;
}
