import { listOf, recordOf } from './json-values.ts';

/**
 * How answers to core widgets are scored. Pure rules, shared by the player, which shows the result at once,
 * and by the server, which decides it.
 */

/** What an answer earned, in points: `0 <= score <= maxScore`. */
export interface Score {
  score: number;
  maxScore: number;
}

/** One choice of a multiple choice question. */
export interface Choice {
  id: string;
  html: string;
  /** HTML that is shown to those who picked it; '' for none. */
  feedback: string;
}

/** A multiple choice question, read from a block's props. */
export interface Question {
  choices: Choice[];
  /** Ids of the right choices, each one of `choices`, each once. */
  correct: string[];
  /** What a right answer earns; 0 for a question that is not scored. */
  points: number;
  partialCredit: boolean;
}

/** What scoring needs of a question. */
export interface QuestionFacts extends Pick<Question, 'correct' | 'points' | 'partialCredit'> {
  choices: Pick<Choice, 'id'>[];
}

/** Returns what scoring needs of a MultipleChoice block's props; null for a question that is not scored. */
export function questionOf(props: unknown): QuestionFacts | null {
  if (scoreMultipleChoice(props, []) === null) return null;
  const { choices, correct, points, partialCredit } = readQuestion(props);
  return { choices: choices.map(({ id }) => ({ id })), correct, points, partialCredit };
}

/**
 * Reads a MultipleChoice block's props, whatever is in them. Choices without an id are left out, since no
 * answer could name them; right choices that are not among the choices are left out, since no learner could
 * pick them; points that are no number of 0 or more count as 1.
 */
export function readQuestion(props: unknown): Question {
  const { choices, correct, points, partialCredit } = recordOf(props);
  const read = new Map<string, Choice>();
  for (const entry of listOf(choices)) {
    const { id, html, feedback } = recordOf(entry);
    const key = choiceIdOf(id);
    if (key === undefined || read.has(key)) continue;
    read.set(key, { id: key, html: textOf(html), feedback: textOf(feedback) });
  }
  const right = new Set(listOf(correct).map(choiceIdOf));
  return {
    choices: [...read.values()],
    correct: [...read.keys()].filter((id) => right.has(id)),
    points: typeof points === 'number' && Number.isFinite(points) && points >= 0 ? points : 1,
    partialCredit: partialCredit === true,
  };
}

/**
 * Scores an answer to a MultipleChoice block: all points for exactly the right choices, else none. With
 * `partialCredit: true` each right choice earns its share and each wrong one costs a share, down to none.
 *
 * @param props the block's props, unchecked
 * @param answer an array of choice ids; anything else counts as no choice, so that an empty array asks for
 *   what could be gained
 * @returns null for a question that is not scored: no right choice, or no points
 */
export function scoreMultipleChoice(props: unknown, answer: unknown): Score | null {
  const { correct, points, partialCredit } = readQuestion(props);
  if (correct.length === 0 || points === 0) return null;
  const picked = new Set(listOf(answer).map(choiceIdOf));
  const hits = correct.filter((id) => picked.has(id)).length;
  const misses = picked.size - hits;
  if (hits === correct.length && misses === 0) return { score: points, maxScore: points };
  const share = partialCredit ? Math.max(0, hits - misses) / correct.length : 0;
  // Four decimals, so that sums of shares compare and print as a reader expects.
  return { score: Math.round(points * share * 10_000) / 10_000, maxScore: points };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the id of a choice as text; undefined for what cannot be one. */
export function choiceIdOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
