import { listOf, recordOf } from '../json-values.ts';
import { earned, partIdOf, readPoints, textOf } from './scoring.ts';
import type { QuestionFacts, Score, WidgetScoring } from './scoring.ts';

/** The choices and the scoring of multiple choice questions. */

/** One choice of a question. */
export interface Choice {
  id: string;
  html: string;
  /** HTML for learners who picked this choice; '' for none, like the following two. */
  feedback: string;
  /** HTML for learners who did not pick it. */
  notChosenFeedback: string;
  /** HTML that learners can look at before they answer. */
  hint: string;
}

/** A multiple choice question, read from a block's props. */
export interface Question extends QuestionFacts {
  choices: Choice[];
  /** Ids of the right choices, each one of `choices`, each once. */
  correct: string[];
  partialCredit: boolean;
}

export const multipleChoiceScoring: WidgetScoring = {
  questionOf,
  score: scoreMultipleChoice,
  rightAnswer(props) {
    const { correct } = readQuestion(props);
    return correct.length > 0 ? correct : undefined;
  },
};

function questionOf(props: unknown): (Omit<Question, 'choices'> & { choices: { id: string }[] }) | null {
  if (scoreMultipleChoice(props, []) === null) return null;
  const { choices, correct, points, partialCredit } = readQuestion(props);
  return { choices: choices.map(({ id }) => ({ id })), correct, points, partialCredit };
}

/**
 * Reads a block's unchecked props. Leaves out choices without an id, which no answer could name, and right choices
 * that are not among the choices, which no learner could pick. Points that are not a number of 0 or more count as 1.
 */
export function readQuestion(props: unknown): Question {
  const { choices, correct, points, partialCredit } = recordOf(props);
  const read = new Map<string, Choice>();
  for (const entry of listOf(choices)) {
    const { id, html, feedback, notChosenFeedback, hint } = recordOf(entry);
    const key = partIdOf(id);
    if (key === undefined || read.has(key)) continue;
    read.set(key, {
      id: key,
      html: textOf(html),
      feedback: textOf(feedback),
      notChosenFeedback: textOf(notChosenFeedback),
      hint: textOf(hint),
    });
  }
  const right = new Set(listOf(correct).map(partIdOf));
  return {
    choices: [...read.values()],
    correct: [...read.keys()].filter((id) => right.has(id)),
    points: readPoints(points),
    partialCredit: partialCredit === true,
  };
}

/**
 * Scores an answer: all points for exactly the right choices, else none. With `partialCredit: true`, each right choice
 * earns its share and each wrong one costs a share, down to none.
 *
 * @param props the block's props, unchecked
 * @param answer an array of choice ids; anything else counts as no choice. An empty array yields the maximum.
 * @returns null for a question that is not scored: it has no right choice, or no points
 */
export function scoreMultipleChoice(props: unknown, answer: unknown): Score | null {
  const { correct, points, partialCredit } = readQuestion(props);
  if (correct.length === 0 || points === 0) return null;
  const picked = new Set(listOf(answer).map(partIdOf));
  const hits = correct.filter((id) => picked.has(id)).length;
  const misses = picked.size - hits;
  const right = Math.max(0, hits - misses);
  return earned(points, partialCredit || right === correct.length ? right : 0, correct.length);
}
