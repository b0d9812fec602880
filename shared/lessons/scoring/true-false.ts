import { recordOf } from '../json-values.ts';
import { earned, readPoints } from './scoring.ts';
import type { QuestionFacts, Score, WidgetScoring } from './scoring.ts';

/** The scoring of statements that are true or false. */

export interface TrueFalseQuestion extends QuestionFacts {
  /** Undefined for a statement that is not scored. */
  correct: boolean | undefined;
}

export const trueFalseScoring: WidgetScoring = {
  questionOf,
  score: scoreTrueFalse,
  rightAnswer: (props) => readTrueFalse(props).correct,
};

function questionOf(props: unknown): TrueFalseQuestion | null {
  const question = readTrueFalse(props);
  return question.correct === undefined || question.points === 0 ? null : question;
}

/** Reads a block's unchecked props. */
export function readTrueFalse(props: unknown): TrueFalseQuestion {
  const { correct, points } = recordOf(props);
  return { correct: typeof correct === 'boolean' ? correct : undefined, points: readPoints(points) };
}

/** @param answer true or false; anything else is wrong */
export function scoreTrueFalse(props: unknown, answer: unknown): Score | null {
  const { correct, points } = readTrueFalse(props);
  if (correct === undefined || points === 0) return null;
  return earned(points, answer === correct ? 1 : 0);
}
