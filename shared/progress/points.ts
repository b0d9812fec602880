/*
 * Adds, rounds and compares points, in the player and on the server. Points and their sums stay exact: each
 * is rounded once, where a learner, a platform or an integrator sees it. So three thirds of a point are a point.
 */

/** Points; both are null if nothing is scored. */
export interface Points {
  score: number | null;
  maxScore: number | null;
}

/** The maximum grade of every lesson in gradebooks, independent of its points. */
export const fullMarks = 100;

/** The decimals of all points and shares that anyone sees. */
const shownDecimals = 4;

/** Removes the digits that binary fractions add: 0.1 + 0.2 is 0.3, and thrice a third is 1. */
function withoutNoise(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(12));
}

/** Rounds points or a share for readers; halves are rounded up. */
export function rounded(value: number, decimals = shownDecimals): number {
  const scaled = value * 10 ** decimals;
  return Number.isFinite(scaled) ? Math.round(withoutNoise(scaled)) / 10 ** decimals : value;
}

/** Returns the exact sum of points. JSON has no infinity. */
export function sumOf(points: readonly number[]): number {
  const sum = points.reduce((total, value) => total + value, 0);
  return Math.min(withoutNoise(sum), Number.MAX_VALUE);
}

/** Returns points as learners and integrators see them. */
export function shownPoints({ score, maxScore }: Points): Points {
  return {
    score: score === null ? null : rounded(score),
    maxScore: maxScore === null ? null : rounded(maxScore),
  };
}

/** Returns the exact share of the maximum that was earned, from 0 to 1; null before a scored answer. */
export function shareOf({ score, maxScore }: Points): number | null {
  if (score === null || maxScore === null || maxScore <= 0) return null;
  return Math.min(1, Math.max(0, score / maxScore));
}

/**
 * Returns whether a share reaches a mark. What is shown decides: 66.67 % reaches a mark of 66.67 %, although two thirds
 * are a little less. Only for a mark with more decimals, which a platform may set, the exact share decides.
 *
 * @param mark from 0 to 1
 */
export function reachesMark(share: number, mark: number): boolean {
  const wanted = withoutNoise(mark);
  return (rounded(wanted) === wanted ? rounded(share) : withoutNoise(share)) >= wanted;
}

/**
 * Returns a share as learners and platforms see it.
 *
 * @param mark a share that is missed is not rounded up to it; null for none
 */
export function shownShare(share: number, mark: number | null = null): number {
  const shown = rounded(share);
  const isMissed = mark !== null && shown >= mark && !reachesMark(share, mark);
  return isMissed ? rounded(shown - 10 ** -shownDecimals) : shown;
}

/** Scales points to 0 to 100, for LTI records; both are null if no points can be earned. */
export function scaledTo100(points: Points): Points {
  const { maxScore } = points;
  if (maxScore === null || maxScore === 0) return { score: null, maxScore: null };
  const share = shareOf(points);
  return { score: share === null ? null : rounded(share * fullMarks), maxScore: fullMarks };
}

/** Returns the exact share of a finished lesson: 0 without answers, 1 if no points can be earned. */
export function finalShare(points: Points): number {
  const { maxScore } = points;
  return maxScore === null || maxScore === 0 ? 1 : (shareOf(points) ?? 0);
}

/** Returns the grade of a finished lesson, out of 100. */
export function gradeOf(points: Points): number {
  return rounded(finalShare(points) * fullMarks);
}
