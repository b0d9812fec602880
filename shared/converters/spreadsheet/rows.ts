import {
  choiceId,
  escapeHtml,
  matching,
  multipleChoice,
  numeric,
  openResponse,
  questionProps,
  shortAnswer,
  trueFalse,
} from '../questions/question-blocks.ts';
import type { ConvertedQuestion, QuestionText } from '../questions/question-blocks.ts';
import type { RowType } from './template.ts';

/** The columns of a table by name; `choices` has those of `choice 1`, `choice 2` and so on. */
export interface Columns {
  byName: ReadonlyMap<string, number>;
  choices: readonly number[];
}

const aliases: Record<string, string> = {
  ...{ 'question text': 'question', prompt: 'question', 'question type': 'type' },
  ...{ correct: 'right', 'correct answer': 'right', answer: 'right', 'right answer': 'right' },
  ...{ explanation: 'feedback', score: 'points', image: 'media', picture: 'media' },
};

function nameOf(cell: string): string {
  const name = cell.trim().toLowerCase();
  return aliases[name] ?? name;
}

const choiceColumn = /^(?:choice|option|answer)[ _]?(\d+|[a-z])$/;

export function looksLikeHeader(header: readonly string[]): boolean {
  const names = header.map(nameOf);
  return (
    names.includes('question') && (names.includes('right') || names.some((name) => choiceColumn.test(name)))
  );
}

export function columnsIn(header: readonly string[]): Columns {
  const names = header.map(nameOf);
  return {
    byName: new Map(names.map((name, index) => [name, index] as const).reverse()),
    choices: names.flatMap((name, index) => (choiceColumn.test(name) ? [index] : [])),
  };
}

export interface ConvertedRow {
  kind: string;
  title: string;
  /** The path or URL of a picture above the question; may be empty. */
  picture: string;
  question: ConvertedQuestion | null;
  fault: string | null;
}

interface Row {
  text: QuestionText;
  /** Those that are not empty, as plain text. */
  choices: string[];
  /** The column of each choice among those for choices, by which letters and numbers name it. */
  places: number[];
  right: string;
}

/** Returns the question, or what is wrong with the row. */
type Read = (row: Row) => ConvertedQuestion | string;

const types: Record<RowType, Read> = {
  'multiple choice': ({ text, choices, places, right }) => {
    const chosen = rightChoices({ choices, places }, right);
    if (typeof chosen === 'string') return chosen;
    const weighted = choices.map((choice, index) => ({
      text: escapeHtml(choice),
      weight: chosen.has(index) ? 1 / chosen.size : chosen.size > 1 ? -1 / chosen.size : 0,
    }));
    return multipleChoice(text, weighted, { isSingle: chosen.size === 1, shuffle: false });
  },
  'true/false': ({ text, right }) => {
    const value = /^(?:true|t|yes|1)$/i.test(right) ? true : /^(?:false|f|no|0)$/i.test(right) ? false : null;
    return value === null ? `right must be true or false, not "${right}"` : trueFalse(text, value);
  },
  'short answer': ({ text, right }) => {
    const answers = right.split('|').filter((answer) => answer.trim() !== '');
    if (answers.length === 0) return 'right must have the answer, or several with | between them';
    return shortAnswer(
      text,
      answers.map((answer) => ({ text: answer.replaceAll('*', '\\*'), weight: 1 })),
    );
  },
  number: ({ text, right }) => {
    const found = /^\s*(-?\d+(?:[.,]\d+)?)\s*(?:(?:±|\+-|\+\/-)\s*(\d+(?:[.,]\d+)?))?\s*(\D*)$/.exec(right);
    if (found === null) return `right must be a number such as 12.4 or 12.4 ± 0.1, not "${right}"`;
    // A comma before three digits may divide thousands.
    if (/,\d{3}(?!\d)/.test(right))
      return `right must be a number with a point, such as 1000 or 1.234, not "${right}"`;
    const [value, tolerance] = [found[1], found[2]].map((one = '0') => Number(one.replace(',', '.')));
    return numeric(text, [{ value: value ?? 0, tolerance: tolerance ?? 0, weight: 1 }], found[3]?.trim());
  },
  matching: ({ text, choices }) => {
    const pairs = choices.map((choice) => choice.split('='));
    if (pairs.length === 0 || pairs.some(({ length }) => length !== 2)) {
      return 'each choice must be a pair such as New moon = Spring tide';
    }
    return matching(
      text,
      pairs.map(([left = '', right = '']) => ({
        left: escapeHtml(left.trim()),
        right: escapeHtml(right.trim()),
      })),
    );
  },
  ordering: ({ text, choices }) => {
    if (choices.length < 2) return 'needs at least two choices, in the right order';
    const items = choices.map((choice, index) => ({ id: `i${index + 1}`, html: escapeHtml(choice) }));
    return { block: { type: 'Ordering', props: { ...questionProps(text), items } }, losses: [] };
  },
  open: ({ text, right }) => openResponse(text, escapeHtml(right)),
  text: ({ text }) => ({ block: { type: 'Text', props: { html: text.prompt } }, losses: [] }),
};

const typeAliases: Record<string, string> = {
  ...{ 'multiple-choice': 'multiple choice', mc: 'multiple choice', 'multiple answer': 'multiple choice' },
  ...{ 'true-false': 'true/false', tf: 'true/false', 'true or false': 'true/false' },
  ...{ 'fill in the blank': 'short answer', 'short-answer': 'short answer', numeric: 'number' },
  ...{ essay: 'open', 'open response': 'open', order: 'ordering' },
};

export function convertRow(cells: readonly string[], { byName, choices: columns }: Columns): ConvertedRow {
  const cell = (name: string) => cells[byName.get(name) ?? -1]?.trim() ?? '';
  const filled = columns.flatMap((column, place) => {
    const choice = cells[column]?.trim() ?? '';
    return choice === '' ? [] : [{ choice, place }];
  });
  const [choices, places] = [filled.map(({ choice }) => choice), filled.map(({ place }) => place)];
  const right = cell('right');
  const written = cell('type').toLowerCase();
  const kind = written === '' ? impliedType(choices, right) : (typeAliases[written] ?? written);
  const question = cell('question');
  const points = cell('points').replace(',', '.');
  const row = { kind, title: question, picture: cell('media') };
  const read = Object.hasOwn(types, kind) ? types[kind as RowType] : undefined;
  const fault =
    question === ''
      ? 'has no question'
      : read === undefined
        ? `type must be one of ${Object.keys(types).join(', ')}, not "${written}"`
        : points !== '' && !(Number(points) >= 0)
          ? `points must be a number from 0, not "${points}"`
          : null;
  if (fault !== null || read === undefined) return { ...row, question: null, fault };
  const text: QuestionText = {
    prompt: escapeHtml(question),
    explanation: escapeHtml(cell('feedback')),
    hint: escapeHtml(cell('hint')),
    ...(points !== '' && { points: Number(points) }),
  };
  const result = read({ text, choices, places, right });
  return typeof result === 'string'
    ? { ...row, question: null, fault: result }
    : { ...row, question: result, fault: null };
}

function impliedType(choices: readonly string[], right: string): string {
  if (choices.length > 0) return 'multiple choice';
  if (/^(?:true|false)$/i.test(right)) return 'true/false';
  return right === '' ? 'open' : 'short answer';
}

/** Finds the right choices by their letters, their numbers or their texts, with commas between several. */
function rightChoices(
  { choices, places }: Pick<Row, 'choices' | 'places'>,
  right: string,
): Set<number> | string {
  const whole = choices.indexOf(right);
  if (whole >= 0) return new Set([whole]);
  const found = new Set<number>();
  for (const part of right
    .split(/[,;|]/)
    .map((one) => one.trim())
    .filter((one) => one !== '')) {
    const byText = choices.indexOf(part);
    const byLetter = places.findIndex((place) => choiceId(place) === part.toLowerCase());
    const byNumber = places.findIndex((place) => String(place + 1) === part);
    const index = byText >= 0 ? byText : byLetter >= 0 ? byLetter : byNumber;
    if (index < 0) return `right is "${part}", and there are ${choices.length} choices`;
    found.add(index);
  }
  return found.size > 0 ? found : 'right must name a choice, such as A, or several, such as A, C';
}
