import { listOf, quote, recordOf } from './json-values.ts';
import type { QuestionFacts, Score, WidgetScoring } from './scoring.ts';

/** The choices and the scoring of multiple choice questions. */

/** One choice of a question. */
export interface Choice {
  id: string;
  html: string;
  /** HTML for learners who picked this choice; '' for none. */
  feedback: string;
}

/** A multiple choice question, read from a block's props. */
export interface Question extends QuestionFacts {
  choices: Choice[];
}

export const multipleChoiceScoring: WidgetScoring = { questionOf, score: scoreMultipleChoice, faultsOf };

function questionOf(props: unknown): QuestionFacts | null {
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
  const picked = new Set(listOf(answer).map(choiceIdOf));
  const hits = correct.filter((id) => picked.has(id)).length;
  const misses = picked.size - hits;
  if (hits === correct.length && misses === 0) return { score: points, maxScore: points };
  const share = partialCredit ? Math.max(0, hits - misses) / correct.length : 0;
  // Four decimals, so that sums of shares compare and print as a reader expects.
  return { score: Math.round(points * share * 10_000) / 10_000, maxScore: points };
}

/** Finds choices that learners cannot pick, and questions that no learner can answer correctly. */
function faultsOf({ choices, correct, points }: Record<string, unknown>): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const [index, choice] of listOf(choices).entries()) {
    const id = choiceIdOf(recordOf(choice).id);
    if (id === undefined) faults.push(`choice ${index + 1} has no id, so learners cannot pick it`);
    else if (ids.has(id))
      faults.push(`choice ${index + 1} has the id ${quote(id)} of an earlier choice, and is left out`);
    else ids.add(id);
  }
  if (correct !== undefined && correct !== null && !Array.isArray(correct)) {
    return [...faults, `correct must be a list of choice ids, such as ["a"]`];
  }
  const right = listOf(correct);
  for (const answer of right) {
    const id = choiceIdOf(answer);
    if (id !== undefined && ids.has(id)) continue;
    const shown = quote(id ?? JSON.stringify(answer));
    faults.push(`the right answer ${shown} is not among its choices (${firstIds([...ids])})`);
  }
  if (right.length === 0 && points !== 0) {
    faults.push('has no right answer, so it is not scored; set points to 0 if that is meant');
  }
  return faults;
}

function firstIds(ids: string[]): string {
  const shown = ids.slice(0, 10).map((id) => quote(id, 40));
  return `${shown.join(', ')}${ids.length > 10 ? ', …' : ''}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the id of a choice as text; undefined for other values. */
function choiceIdOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
