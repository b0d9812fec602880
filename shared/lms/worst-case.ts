import type { AnswerForm } from './answer-forms.ts';
import type { LessonMap } from './lesson-map.ts';
import { headerBits } from './state-codec.ts';
import type { Loss } from './state-codec.ts';

/** The possible length of a version's state, for the package's manifest.json. */
export interface StateSize {
  /** The limit that the standard guarantees. */
  maxCharacters: number;
  /** The longest state, uncompressed; null if a variable or an answer has no limit. */
  worstCaseCharacters: number | null;
  /** The longest state after all losses. */
  leastCharacters: number;
  /** Whether every state of every learner fits. */
  state: 'full' | 'truncated';
  /** The parts that a state may lose, in this order. */
  mayLose: Loss[];
}

/** The groups of 7 bits of a number, which takes 8 each. */
const numberBits = (max: number) => 8 * Math.max(1, Math.ceil(Math.log2(max + 1) / 7));
/** Whether a question is answered, how its answer is kept, and whether there were several tries. */
const answerBits = 1 + 2 + 1;
const triesBits = 4;
/** Points: their kind, and for a part of them the exact number. */
const pointBits = ({ points, hasPartialPoints }: AnswerForm) =>
  points !== null && hasPartialPoints ? 2 + 64 : 2;

/** Returns the size of a version's longest state: every step is seen, and every answer has its maximum length. */
export function stateSizeOf(map: LessonMap, maxCharacters: number): StateSize {
  const { steps, questions } = map;
  const fixed = headerBits + numberBits(steps.length) + steps.length;
  const bits = (bitsOf: (form: AnswerForm) => number) =>
    questions.reduce((sum, { form }) => sum + answerBits + bitsOf(form), fixed);
  const texts = sizeOf(questions.map(({ form }) => (form.choices === null ? form.maxJsonCharacters : 0)));
  const variables = variableSize(map);
  const all = bits((form) => triesBits + (form.choices?.length ?? pointBits(form)));
  const tail = texts === null || variables === null ? null : texts + variables;
  const worst = tail === null ? null : charactersOf(all, tail);
  const least = charactersOf(bits(pointBits), 0);
  const fits = worst !== null && worst <= maxCharacters;
  return {
    maxCharacters,
    worstCaseCharacters: worst,
    leastCharacters: least,
    state: fits ? 'full' : 'truncated',
    mayLose: fits ? [] : lossesTo(map, maxCharacters, { all, variables }),
  };
}

function lossesTo(
  { questions, variables: defined }: LessonMap,
  maxCharacters: number,
  { all, variables }: { all: number; variables: number | null },
): Loss[] {
  const losses: Loss[] = questions.some(({ form }) => form.isFreeText) ? ['texts'] : [];
  if (variables !== null && charactersOf(all, variables) <= maxCharacters) return losses;
  if (Object.keys(defined).length > 0) losses.push('variables');
  return charactersOf(all, 0) <= maxCharacters ? losses : [...losses, 'answers', 'tries'];
}

/** Returns the maximum length of the variables as JSON; null if they have no limit. */
function variableSize({ questions, variables }: LessonMap): number | null {
  const names = Object.keys(variables);
  if (names.length === 0) return 0;
  // Custom widgets may set every variable to any value.
  if (questions.some(({ form }) => form.type === 'other')) return null;
  return sizeOf(
    names.map((name) => {
      const setters = questions.filter(({ variable }) => variable === name);
      const sizes = setters.map(({ form }) => form.maxJsonCharacters);
      const most = sizes.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)), 0);
      return most === null ? null : JSON.stringify(name).length + 1 + most;
    }),
  );
}

/** Returns the sum of sizes, with a comma for each; null if one is unknown. */
function sizeOf(sizes: (number | null)[]): number | null {
  return sizes.reduce<number | null>(
    (sum, size) => (sum === null || size === null ? null : sum + size + 1),
    0,
  );
}

/** Returns the length of base64url text, with the format and the brackets of the JSON. */
function charactersOf(bits: number, jsonCharacters: number): number {
  const bytes = Math.ceil(bits / 8) + (jsonCharacters === 0 ? 0 : jsonCharacters + 6);
  return 1 + Math.ceil((bytes * 4) / 3);
}
