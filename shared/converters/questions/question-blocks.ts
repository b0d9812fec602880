import { parseFragment } from 'parse5';
import { withoutTags } from '../../lessons/blocks.ts';
import { maxAnswers, maxBlankCharacters } from '../../lessons/scoring/fill-in-the-blanks.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';

/*
 * Makes blocks of the questions that question banks exchange. Each function returns the block, or null if the question
 * cannot be answered, and what it loses, as phrases for the report.
 */

export interface ConvertedQuestion {
  block: ConvertedBlock | null;
  losses: string[];
}

/** A choice, or an accepted answer. */
export interface WeightedAnswer {
  /** HTML for choices; plain text for answers that learners type. */
  text: string;
  /** The share of the points that it earns, from -1 to 1. */
  weight: number;
  /** HTML. */
  feedback?: string | undefined;
}

/** What all questions have. */
export interface QuestionText {
  /** HTML. */
  prompt: string;
  explanation?: string | undefined;
  hint?: string | undefined;
  points?: number | undefined;
  /** HTML, for the whole answer. */
  feedback?: { right?: string | undefined; partly?: string | undefined; wrong?: string | undefined };
}

/** Percentages in question banks are rounded: a third is 33.33333. */
function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.005;
}

function percent(weight: number): string {
  return `${Number((weight * 100).toFixed(2))} %`;
}

/** Returns the props that a question has. Leaves out empty ones. */
export function questionProps({ prompt, explanation, hint, points, feedback = {} }: QuestionText): object {
  const texts = Object.fromEntries(Object.entries(feedback).filter(([, text]) => hasText(text)));
  return {
    prompt,
    ...(points !== undefined && { points }),
    ...(hasText(hint) && { hint }),
    ...(hasText(explanation) && { explanation }),
    ...(Object.keys(texts).length > 0 && { feedback: texts }),
  };
}

export function hasText(html: string | undefined): html is string {
  return html !== undefined && html.trim() !== '';
}

/**
 * @param isSingle whether learners pick one choice
 */
export function multipleChoice(
  text: QuestionText,
  choices: readonly WeightedAnswer[],
  { isSingle, shuffle }: { isSingle: boolean; shuffle: boolean },
): ConvertedQuestion {
  const losses: string[] = [];
  const isRight = ({ weight }: WeightedAnswer) => (isSingle ? isNear(weight, 1) : weight > 0.005);
  const right = choices.filter(isRight);
  if (choices.length === 0) return { block: null, losses: ['it has no choices'] };
  if (right.length === 0) return { block: null, losses: ['no choice earns all points'] };
  if (isSingle) {
    const others = choices.filter((choice) => !isRight(choice) && !isNear(choice.weight, 0));
    if (others.length > 0)
      losses.push(`choices no longer earn ${others.map((c) => percent(c.weight)).join(', ')}`);
    if (right.length > 1) losses.push('learners must choose all right choices, where one was enough');
  } else {
    losses.push(...lostWeights(choices, right.length));
  }
  const ids = choices.map((_, index) => choiceId(index));
  const props = {
    ...questionProps(text),
    choices: choices.map(({ text: html, feedback }, index) => ({
      ...{ id: ids[index], html },
      ...(hasText(feedback) && { feedback }),
    })),
    correct: ids.filter((_, index) => isRight(choices[index] ?? { text: '', weight: 0 })),
    ...((!isSingle || right.length > 1) && { multiple: true, partialCredit: true }),
    ...(shuffle && { shuffle: true }),
  };
  return { block: { type: 'MultipleChoice', props }, losses };
}

/** Returns a, b, …, z, c27, …: answers name choices by these. */
export function choiceId(index: number): string {
  return index < 26 ? String.fromCharCode(97 + index) : `c${index + 1}`;
}

/** With partial credit, each right choice earns its share, and each wrong one costs a share. */
function lostWeights(choices: readonly WeightedAnswer[], right: number): string[] {
  const share = 1 / right;
  const rights = choices.filter(({ weight }) => weight > 0.005);
  const wrongs = choices.filter(({ weight }) => weight <= 0.005);
  return [
    ...(rights.some(({ weight }) => !isNear(weight, share))
      ? [`each right choice earns ${percent(share)}`]
      : []),
    ...(wrongs.some(({ weight }) => !isNear(weight, -share))
      ? [`each wrong choice costs ${percent(share)}`]
      : []),
  ];
}

/**
 * A question whose answer learners type.
 *
 * @param gap the HTML around the gap, if the answer belongs into a sentence; `[[1]]` is the gap
 */
export function shortAnswer(
  text: QuestionText,
  answers: readonly WeightedAnswer[],
  { gap, caseSensitive = false }: { gap?: string; caseSensitive?: boolean } = {},
): ConvertedQuestion {
  const { accepted, losses, feedback } = acceptedAnswers(answers);
  if (accepted.length === 0) return { block: null, losses: [...losses, 'no answer earns all points'] };
  const props = {
    ...questionProps(text),
    text: gap ?? '<p>[[1]]</p>',
    blanks: [
      { id: '1', answers: accepted, ...(feedback !== undefined && { feedback: { right: feedback } }) },
    ],
    ...(caseSensitive && { caseSensitive: true }),
  };
  return { block: { type: 'FillInTheBlanks', props }, losses };
}

/** Divides answers into those that a gap accepts, and what is lost of the others. */
export function acceptedAnswers(answers: readonly WeightedAnswer[]): {
  accepted: string[];
  losses: string[];
  feedback: string | undefined;
} {
  const losses: string[] = [];
  const right = answers.filter(({ weight }) => isNear(weight, 1));
  const partly = answers.filter(({ weight }) => !isNear(weight, 1) && weight > 0.005);
  if (partly.length > 0)
    losses.push(`answers no longer earn ${partly.map((a) => percent(a.weight)).join(', ')}`);
  const typed = right.map((answer) => answer.text.trim()).filter((text) => text !== '');
  const withoutWildcards = typed
    .filter((text) => !/(?<!\\)\*/.test(text))
    .map((text) => text.replaceAll('\\*', '*'));
  if (withoutWildcards.length < typed.length) losses.push('answers with * for any text are left out');
  const accepted = withoutWildcards.filter(({ length }) => length <= maxBlankCharacters);
  if (accepted.length < withoutWildcards.length) losses.push('answers that are too long are left out');
  if (accepted.length > maxAnswers) losses.push(`only the first ${maxAnswers} answers count`);
  const feedbacks = new Set(right.flatMap(({ feedback }) => (hasText(feedback) ? [feedback] : [])));
  const others = answers.filter((answer) => !right.includes(answer) && hasText(answer.feedback));
  if (feedbacks.size > 1 || others.length > 0) losses.push('feedback for single answers is left out');
  const [feedback] = feedbacks;
  return {
    accepted: accepted.slice(0, maxAnswers),
    losses,
    feedback: feedbacks.size === 1 ? feedback : undefined,
  };
}

export function trueFalse(text: QuestionText, correct: boolean): ConvertedQuestion {
  return { block: { type: 'TrueFalse', props: { ...questionProps(text), correct } }, losses: [] };
}

/** An accepted number, with the share of the points that it earns. */
export interface NumericAnswer {
  value: number;
  tolerance: number;
  weight: number;
  feedback?: string | undefined;
}

export function numeric(
  text: QuestionText,
  answers: readonly NumericAnswer[],
  unit?: string,
): ConvertedQuestion {
  const right = answers.filter(({ weight }) => isNear(weight, 1));
  const [first] = right;
  if (first === undefined) return { block: null, losses: ['no number earns all points'] };
  const losses: string[] = [];
  if (right.length > 1) losses.push('only the first right number counts');
  const partly = answers.filter(({ weight }) => !isNear(weight, 1) && weight > 0.005);
  if (partly.length > 0)
    losses.push(`numbers no longer earn ${partly.map((a) => percent(a.weight)).join(', ')}`);
  const lost = answers.filter((answer) => answer !== first && hasText(answer.feedback));
  if (lost.length > 0) losses.push('feedback for other numbers is left out');
  const feedback = { ...(hasText(first.feedback) && { right: first.feedback }), ...text.feedback };
  const props = {
    ...questionProps({ ...text, feedback }),
    correct: first.value,
    ...(first.tolerance > 0 && { tolerance: first.tolerance }),
    ...(hasText(unit) && { unit }),
  };
  return { block: { type: 'Numeric', props }, losses };
}

/** @param pairs HTML; a pair without a left side is a distractor */
export function matching(
  text: QuestionText,
  pairs: readonly { left: string; right: string }[],
): ConvertedQuestion {
  const whole = pairs.filter(({ left, right }) => hasText(left) && hasText(right));
  const rights = new Set(whole.map(({ right }) => right.trim()));
  const distractors = pairs.filter(
    ({ left, right }) => !hasText(left) && hasText(right) && !rights.has(right.trim()),
  );
  if (whole.length === 0) return { block: null, losses: ['it has no pairs'] };
  const props = {
    ...questionProps(text),
    pairs: whole.map((pair, index) => ({ id: `p${index + 1}`, ...pair })),
    ...(distractors.length > 0 && {
      distractors: distractors.map(({ right }, index) => ({ id: `d${index + 1}`, html: right })),
    }),
  };
  return { block: { type: 'Matching', props }, losses: [] };
}

export function openResponse(text: QuestionText, sampleAnswer?: string): ConvertedQuestion {
  const losses: string[] = [];
  if (Object.values(text.feedback ?? {}).some(hasText)) losses.push('feedback is left out');
  const shown = [sampleAnswer, text.explanation].filter(hasText).join('\n\n');
  const props = { prompt: text.prompt, ...(shown !== '' && { sampleAnswer: shown }) };
  return { block: { type: 'OpenResponse', props }, losses };
}

/** Returns plain text as HTML. Quotation marks need no escape outside attributes. */
export function escapeHtml(plain: string): string {
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns HTML in which no pair of brackets is a gap. */
export function withoutGaps(html: string): string {
  return html.replaceAll('[[', '[&#91;');
}

/** Returns the words of HTML in one line. */
export function wordsOf(html: string): string {
  return decodeEntities(withoutTags(html)).replaceAll(/\s+/g, ' ').trim();
}

/** Returns text without tags whose entities are characters. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  const { childNodes } = parseFragment(text.replaceAll('<', '&lt;'));
  return childNodes.map((node) => ('value' in node ? node.value : '')).join('');
}
