import { recordOf } from '../json-values.ts';
import { earned, readPoints } from './scoring.ts';
import type { QuestionFacts, Score, WidgetScoring } from './scoring.ts';

/** The scoring of questions that ask for a number. */

export interface NumericQuestion extends QuestionFacts {
  /** Undefined for a question without a right answer. */
  correct: number | undefined;
  /** How far an accepted number may be from the right one, in the unit of the answer. */
  tolerance: number;
}

export const numericScoring: WidgetScoring = {
  questionOf,
  score: scoreNumeric,
  rightAnswer: (props) => readNumeric(props).correct,
};

/** Decimal fractions are not exact in binary: 0.1 + 0.2 must count as 0.3. */
const relativeError = 1e-9;

function questionOf(props: unknown): NumericQuestion | null {
  const question = readNumeric(props);
  return question.correct === undefined || question.points === 0 ? null : question;
}

/** Reads a block's unchecked props. `tolerance` is a number, or a percentage of the right answer such as `5%`. */
export function readNumeric(props: unknown): NumericQuestion {
  const { correct, tolerance, points } = recordOf(props);
  const right = typeof correct === 'number' && Number.isFinite(correct) ? correct : undefined;
  return { correct: right, tolerance: readTolerance(tolerance, right ?? 0) ?? 0, points: readPoints(points) };
}

/** A tolerance as a share of the right answer. */
export const percentage = /^\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*$/;

/** Returns a tolerance as a number of 0 or more; undefined for anything else. */
export function readTolerance(tolerance: unknown, correct: number): number | undefined {
  if (typeof tolerance === 'number')
    return Number.isFinite(tolerance) && tolerance >= 0 ? tolerance : undefined;
  const share = typeof tolerance === 'string' ? percentage.exec(tolerance) : null;
  return share === null ? undefined : (Math.abs(correct) * Number(share[1])) / 100;
}

/**
 * Scores an answer: all points for a number within the tolerance, otherwise none.
 *
 * @param answer a number; anything else is wrong
 */
export function scoreNumeric(props: unknown, answer: unknown): Score | null {
  const { correct, tolerance, points } = readNumeric(props);
  if (correct === undefined || points === 0) return null;
  const isRight =
    typeof answer === 'number' &&
    Math.abs(answer - correct) <= tolerance + relativeError * Math.max(Math.abs(correct), tolerance);
  return earned(points, isRight ? 1 : 0);
}
