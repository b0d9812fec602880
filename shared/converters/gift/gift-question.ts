import {
  hasText,
  escapeHtml,
  matching,
  multipleChoice,
  numeric,
  openResponse,
  shortAnswer,
  trueFalse,
  withoutGaps,
  wordsOf,
} from '../questions/question-blocks.ts';
import type {
  ConvertedQuestion,
  NumericAnswer,
  QuestionText,
  WeightedAnswer,
} from '../questions/question-blocks.ts';
import { inlineHtml } from '../markdown/text-file.ts';
import { divide, splitOnce, unescape } from './gift-syntax.ts';
import type { GiftQuestion } from './gift-syntax.ts';

/** A question, with its kind as Moodle names it. */
export type GiftResult = ConvertedQuestion & { kind: string };

/** The gap of a missing word in a question with choices. */
const line = '_____';

export function convertGiftQuestion(question: GiftQuestion): GiftResult {
  const { before, after, format } = question;
  const html = (text: string) => toHtml(text, format);
  if (question.answers === null) {
    const block = { type: 'Text', props: { html: html(before) } };
    return { kind: 'description', block, losses: [] };
  }
  const [answers, general] = splitOnce(question.answers, '####');
  const explanation = general === null ? undefined : html(general.trim());
  const isGap = hasText(after);
  const text: QuestionText = {
    prompt: html(isGap ? [before, line, after].filter(hasText).join(' ') : before),
    explanation,
  };
  const gap = isGap ? `${withoutGaps(html(before))} [[1]] ${withoutGaps(html(after))}` : undefined;
  return convertAnswers(text, answers.trim(), { html, gap });
}

function convertAnswers(
  text: QuestionText,
  answers: string,
  { html, gap }: { html: (text: string) => string; gap: string | undefined },
): GiftResult {
  if (answers === '') return { kind: 'essay', ...openResponse(text) };
  if (answers.startsWith('#')) return { kind: 'numerical', ...numerical(text, answers.slice(1), html) };
  const choices = divide(answers, '=~').slice(1);
  if (choices.some((choice) => choice.startsWith('~'))) {
    const isSingle = choices.some((choice) => choice.startsWith('='));
    const weighted = choices.map((choice) => weightedAnswer(choice, html));
    return { kind: 'multichoice', ...multipleChoice(text, weighted, { isSingle, shuffle: true }) };
  }
  if (choices.length > 0 && choices.every((choice) => choice.includes('->'))) {
    const pairs = choices.map((choice) => {
      const [left, right] = splitOnce(choice.slice(1), '->');
      return { left: html(left.trim()), right: html((right ?? '').trim()) };
    });
    return { kind: 'matching', ...matching(text, pairs) };
  }
  const statement = /^(T|TRUE|F|FALSE)\s*(?:#(.*))?$/is.exec(answers);
  if (statement !== null) {
    const [wrong, right] = splitOnce(statement[2] ?? '', '#');
    const feedback = { wrong: html(wrong.trim()), right: html((right ?? '').trim()) };
    return { kind: 'truefalse', ...trueFalse({ ...text, feedback }, /^t/i.test(answers)) };
  }
  // A single answer may lack its equals sign.
  const written = choices.length > 0 ? choices : [`=${answers}`];
  const weighted = written.map((answer) => {
    const { text: typed, ...rest } = weightedAnswer(answer, html);
    return { ...rest, text: wordsOf(typed) };
  });
  const prompt = gap === undefined ? text : { ...text, prompt: '' };
  return { kind: 'shortanswer', ...shortAnswer(prompt, weighted, gap === undefined ? {} : { gap }) };
}

/** Reads `=right #feedback` and `~%50%half #feedback`. */
function weightedAnswer(written: string, html: (text: string) => string): WeightedAnswer {
  const [answer, feedback] = splitOnce(written.slice(1), '#');
  const { weight, rest } = weightOf(answer, written.startsWith('=') ? 1 : 0);
  return { text: html(rest), weight, feedback: feedback === null ? undefined : html(feedback.trim()) };
}

export function weightOf(answer: string, otherwise: number): { weight: number; rest: string } {
  const found = /^\s*%(-?\d+(?:\.\d+)?)%\s*/.exec(answer);
  if (found === null) return { weight: otherwise, rest: answer.trim() };
  return { weight: Number(found[1]) / 100, rest: answer.slice(found[0].length).trim() };
}

function numerical(text: QuestionText, written: string, html: (text: string) => string): ConvertedQuestion {
  const parts = divide(written.trim(), '=~');
  const listed = parts.length > 1 ? parts.slice(1) : [`=${parts[0] ?? ''}`];
  const answers: NumericAnswer[] = [];
  const losses: string[] = [];
  const feedback: QuestionText['feedback'] = {};
  for (const one of listed) {
    const [answer, comment] = splitOnce(one.slice(1), '#');
    const note = comment === null ? undefined : html(comment.trim());
    const { weight, rest } = weightOf(answer, one.startsWith('=') ? 1 : 0);
    const range = rangeOf(rest);
    if (range !== null) answers.push({ ...range, weight, feedback: note });
    else if (rest === '' || rest === '*') feedback.wrong = note;
    else losses.push(`"${rest}" is not a number`);
  }
  const converted = numeric({ ...text, feedback }, answers);
  return { ...converted, losses: [...losses, ...converted.losses] };
}

const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const between = new RegExp(String.raw`^(${number})\s*\.\.\s*(${number})$`, 'i');
const around = new RegExp(String.raw`^(${number})\s*(?:\\?:\s*(${number}))?$`, 'i');

/** Reads `3.14`, `3.14:0.01` and `1..5`. */
function rangeOf(written: string): Pick<NumericAnswer, 'value' | 'tolerance'> | null {
  const bounds = between.exec(written);
  if (bounds !== null) {
    const [low, high] = [Number(bounds[1]), Number(bounds[2])];
    return { value: rounded((low + high) / 2), tolerance: rounded(Math.abs(high - low) / 2) };
  }
  const single = around.exec(written);
  return single === null ? null : { value: Number(single[1]), tolerance: Math.abs(Number(single[2] ?? 0)) };
}

/** Removes the error of binary fractions: 0.1 + 0.2. */
function rounded(value: number): number {
  return Number(value.toPrecision(15));
}

/** Only elements that HTML has are markup in a text that may be either. */
const tag =
  /<(?!\/?(?:a|abbr|b|blockquote|br|code|dd|del|dfn|div|dl|dt|em|figure|figcaption|h[1-6]|hr|i|img|ins|kbd|li|mark|math|ol|p|pre|q|s|samp|small|source|span|strong|sub|sup|svg|table|tbody|td|tfoot|th|thead|tr|u|ul|var|video|audio)\b)/gi;

function toHtml(text: string, format: string): string {
  const plain = unescape(text);
  if (format === 'plain') return escapeHtml(plain);
  if (format === 'markdown') return inlineHtml(plain);
  return plain.replaceAll(tag, '&lt;');
}
