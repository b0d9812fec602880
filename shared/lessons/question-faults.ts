import type { CoreWidgetType } from './core-widgets.ts';
import { listOf, quote, recordOf } from './json-values.ts';
import { acceptedIn, gapIds, maxBlankCharacters, maxBlanks } from './scoring/fill-in-the-blanks.ts';
import { readTolerance } from './scoring/numeric.ts';
import { partIdOf, textOf } from './scoring/scoring.ts';

/**
 * Finds an author's probable mistakes in the props of a question. They are in a separate file, because the player does
 * not need them.
 */
export const questionFaults: Partial<Record<CoreWidgetType, (props: Record<string, unknown>) => string[]>> = {
  MultipleChoice: choiceFaults,
  TrueFalse: ({ correct, points }) =>
    typeof correct === 'boolean' || isUnscored(correct, points)
      ? []
      : [`correct must be true or false, not ${shown(correct)}, so it is not scored`],
  Numeric: numericFaults,
  FillInTheBlanks: blankFaults,
  Matching: matchingFaults,
  Ordering: orderingFaults,
};

function numericFaults({ correct, tolerance, points }: Record<string, unknown>): string[] {
  const faults: string[] = [];
  if (typeof correct !== 'number' && !isUnscored(correct, points)) {
    faults.push(`correct must be a number, not ${shown(correct)}, so it is not scored`);
  }
  if (tolerance !== undefined && readTolerance(tolerance, 1) === undefined) {
    faults.push(`tolerance must be a number from 0, or a percentage such as "5%", not ${shown(tolerance)}`);
  }
  return faults;
}

/** Finds gaps that learners cannot fill, and blanks that they do not see. */
function blankFaults({ text, blanks, wordBank, distractors }: Record<string, unknown>): string[] {
  const gaps = gapIds(textOf(text));
  const shown = new Set<string>();
  const repeated = new Set<string>();
  for (const gap of gaps) (shown.has(gap) ? repeated : shown).add(gap);
  const { ids, faults } = namedParts(blanks, 'blank');
  for (const [index, blank] of listOf(blanks).entries()) {
    if (acceptedIn(recordOf(blank).answers).length > 0) continue;
    faults.push(
      `blank ${index + 1} needs answers: a list of texts of at most ${maxBlankCharacters} characters, such as ["tide"]`,
    );
  }
  for (const id of shown) if (!ids.has(id)) faults.push(`the gap [[${id}]] has no blank with this id`);
  for (const id of ids)
    if (!shown.has(id)) faults.push(`the text has no gap [[${id}]] for the blank ${quote(id)}`);
  for (const id of repeated) {
    faults.push(`the text has the gap [[${id}]] twice; only the first is shown`);
  }
  if (gaps.length === 0) faults.push('the text has no gap such as [[1]], so learners cannot answer it');
  if (gaps.length > maxBlanks) faults.push(`has ${gaps.length} gaps; only the first ${maxBlanks} count`);
  if (listOf(distractors).length > 0 && wordBank !== true) {
    faults.push('distractors need "wordBank": true, or learners do not see them');
  }
  return faults;
}

function matchingFaults({ pairs, distractors }: Record<string, unknown>): string[] {
  const { ids, faults } = namedParts(pairs, 'pair');
  const rights = new Set(listOf(pairs).map((pair) => textOf(recordOf(pair).right).trim()));
  if (rights.has('')) faults.push('each pair needs a text right, or it is left out');
  if (ids.size === 0) faults.push('has no pairs, so learners cannot answer it');
  const others = namedParts(distractors, 'distractor');
  for (const id of others.ids) {
    if (ids.has(id)) faults.push(`the distractor ${quote(id)} has the id of a pair, and is left out`);
  }
  for (const [index, distractor] of listOf(distractors).entries()) {
    if (!rights.has(textOf(recordOf(distractor).html).trim())) continue;
    faults.push(`distractor ${index + 1} is empty or the right side of a pair, and is left out`);
  }
  return [...faults, ...others.faults];
}

function orderingFaults({ items }: Record<string, unknown>): string[] {
  const { faults } = namedParts(items, 'item');
  for (const [index, item] of listOf(items).entries()) {
    if (textOf(recordOf(item).html).trim() === '')
      faults.push(`item ${index + 1} has no html, and is left out`);
  }
  if (listOf(items).length < 2) faults.push('needs at least two items, so learners cannot answer it');
  return faults;
}

/** Returns the ids of the parts of a question, which answers name, and faults of parts without an own id. */
function namedParts(parts: unknown, name: string): { ids: Set<string>; faults: string[] } {
  const ids = new Set<string>();
  const faults: string[] = [];
  for (const [index, part] of listOf(parts).entries()) {
    const id = partIdOf(recordOf(part).id);
    const place = `${name} ${index + 1}`;
    if (id === undefined) faults.push(`${place} has no id, so it is left out`);
    else if (ids.has(id))
      faults.push(`${place} has the id ${quote(id)} of an earlier ${name}, and is left out`);
    else ids.add(id);
  }
  return { ids, faults };
}

/** Returns whether an author wants no score: the question has no right answer and 0 points. */
function isUnscored(correct: unknown, points: unknown): boolean {
  return correct === undefined && points === 0;
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : quote(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Finds choices that learners cannot pick, and questions that no learner can answer correctly. */
function choiceFaults({ choices, correct, points }: Record<string, unknown>): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const [index, choice] of listOf(choices).entries()) {
    const id = partIdOf(recordOf(choice).id);
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
    const id = partIdOf(answer);
    if (id !== undefined && ids.has(id)) continue;
    faults.push(
      `the right answer ${quote(id ?? JSON.stringify(answer))} is not among its choices (${firstIds([...ids])})`,
    );
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
