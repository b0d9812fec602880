import { acceptedAnswers, questionProps, wordsOf, withoutGaps } from '../questions/question-blocks.ts';
import type { ConvertedQuestion, QuestionText } from '../questions/question-blocks.ts';
import { withPartialCredit } from './choice-question.ts';
import type { Question } from './choice-question.ts';
import { replaceMarks } from './item.ts';
import type { Interaction } from './item.ts';
import { isNear } from './trials.ts';
import type { Trials } from './trials.ts';
import { numberOr } from './values.ts';

/** What learners see where a gap was. */
const line = '____';

interface Blank {
  id: string;
  answers: string[];
  distractors: string[];
  caseSensitive: boolean;
  losses: string[];
}

/** Words for the gaps of a text, from a list. */
export function gapMatchQuestion(question: Question): ConvertedQuestion {
  const { interaction, trials, text } = question;
  const words = new Map(interaction.choices.map(({ id, html }) => [id, wordsOf(html)]));
  const right = new Map(
    trials.rightOf(interaction).map((pair) => {
      const [word = '', gap = ''] = pair.trim().split(/\s+/);
      return [gap, word] as const;
    }),
  );
  if (right.size === 0) return { block: null, losses: ['it names no right words'] };
  if ([...right.values()].some((word) => (words.get(word) ?? '') === '')) {
    return { block: null, losses: ['its gaps take pictures or formulas'] };
  }
  const blanks: { id: string; answers: string[] }[] = [];
  const html = replaceMarks(withoutGaps(interaction.text), (index) => {
    const word = right.get(interaction.targets[index]?.id ?? '');
    if (word === undefined) return line;
    blanks.push({ id: `g${blanks.length + 1}`, answers: [words.get(word) ?? ''] });
    return `[[g${blanks.length}]]`;
  });
  const losses = right.size < interaction.targets.length ? ['gaps that stay empty are left out'] : [];
  const used = new Set(right.values());
  const distractors = [...words].flatMap(([id, word]) => (used.has(id) || word === '' ? [] : word));
  const props = {
    ...questionProps(text),
    ...{ text: html, blanks, wordBank: true },
    ...(distractors.length > 0 && { distractors }),
  };
  const pairs = interaction.targets.flatMap(({ id }) => (right.has(id) ? [`${right.get(id)} ${id}`] : []));
  const answer = (without: number) =>
    Object.fromEntries(blanks.flatMap(({ id, answers }, at) => (at === without ? [] : [[id, answers[0]]])));
  const samples = [-1, ...pairs.keys()].map((without): [unknown, string[]] => [
    answer(without),
    pairs.filter((_pair, at) => at !== without),
  ]);
  const made = withPartialCredit('FillInTheBlanks', props, samples, question);
  return { ...made, losses: [...losses, ...made.losses] };
}

/**
 * A text with gaps, each an interaction of its own.
 *
 * @param html has a mark for each interaction
 * @returns the block, and what is lost of each interaction; null for one that becomes no gap
 */
export function textWithGaps(
  html: string,
  gaps: readonly Interaction[],
  text: QuestionText,
  trials: Trials,
): { block: ConvertedQuestion['block']; losses: string[]; gapLosses: (string[] | null)[] } {
  const blanks = gaps.map((gap, index) => blankOf(gap, `g${index + 1}`, trials));
  const kept = blanks.filter((blank) => blank.answers.length > 0);
  const gapLosses = blanks.map(({ answers, losses }) => (answers.length === 0 ? null : losses));
  if (kept.length === 0) {
    const prompt = replaceMarks(html, () => line);
    return { block: { type: 'OpenResponse', props: { prompt } }, losses: [], gapLosses };
  }
  const marked = replaceMarks(withoutGaps(html), (index) => {
    const blank = blanks[index];
    return blank !== undefined && blank.answers.length > 0 ? `[[${blank.id}]]` : line;
  });
  const lists = gaps.filter(({ type }) => type === 'inlineChoice').length;
  const hasBank = lists === gaps.length;
  const accepted = new Set(kept.flatMap(({ answers }) => answers));
  const distractors = [...new Set(kept.flatMap((blank) => blank.distractors))].filter(
    (word) => !accepted.has(word),
  );
  const losses: string[] = [];
  if (hasBank && lists > 1) losses.push('all gaps share one word bank');
  if (!hasBank && lists > 0) losses.push('learners type the answers that they chose');
  const gains = gaps.flatMap((gap) => (trials.rightOf(gap).length === 0 ? [] : gainOf(gap, trials)));
  const none = trials.score(new Map());
  const full = trials.score(trials.right);
  const sum = gains.reduce((total, gain) => total + gain, 0);
  const isWhole = full !== null && full > 0 && gains.every((gain) => isNear(gain, full - (none ?? 0)));
  const isPartial = kept.length > 1 && !isWhole;
  if (full !== null && full > 0 && isPartial && gains.some((gain) => !isNear(gain, sum / gains.length))) {
    losses.push('each gap earns the same points');
  }
  const props = {
    ...questionProps({ ...text, prompt: '' }),
    ...{ text: marked, blanks: kept.map(({ id, answers }) => ({ id, answers })) },
    ...(!isPartial && kept.length > 1 && { partialCredit: false }),
    ...(hasBank && { wordBank: true }),
    ...(hasBank && distractors.length > 0 && { distractors }),
    ...(kept.every((blank) => blank.caseSensitive) && { caseSensitive: true }),
  };
  return { block: { type: 'FillInTheBlanks', props }, losses, gapLosses };
}

function gainOf(gap: Interaction, trials: Trials): number {
  return trials.gain(gap, trials.rightOf(gap)) ?? 0;
}

function blankOf(gap: Interaction, id: string, trials: Trials): Blank {
  const right = trials.rightOf(gap);
  const empty: Blank = { id, answers: [], distractors: [], caseSensitive: false, losses: [] };
  if (gap.type === 'inlineChoice') {
    const words = gap.choices.map((choice) => ({ id: choice.id, word: wordsOf(choice.html) }));
    const answers = words.flatMap((choice) =>
      right.includes(choice.id) && choice.word !== '' ? choice.word : [],
    );
    return { ...empty, answers, distractors: words.flatMap(({ word }) => (word === '' ? [] : word)) };
  }
  if (gap.type !== 'textEntry') return empty;
  const max = trials.gain(gap, right);
  const texts = [...new Set([...right, ...gap.candidates])].filter((text) => text.trim() !== '');
  const weighted = texts.map((text) => ({
    text,
    weight:
      max === null || max <= 0
        ? Number([...right, ...gap.correct].includes(text))
        : (trials.gain(gap, [text]) ?? 0) / max,
  }));
  const { accepted, losses } = acceptedAnswers(
    weighted.map((answer) => ({ ...answer, text: answer.text.replaceAll('*', '\\*') })),
  );
  const [letters] = accepted.filter((text) => swapCase(text) !== text);
  const caseSensitive =
    letters !== undefined &&
    max !== null &&
    max > 0 &&
    !isNear(trials.gain(gap, [swapCase(letters)]) ?? 0, max);
  const range = gap.isNumber ? rangeOf(gap, trials) : null;
  if (range !== null && range.tolerance > 0)
    losses.push('numbers are compared as texts, without a tolerance');
  return { ...empty, answers: accepted, caseSensitive, losses };
}

function swapCase(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}

/** A number as the only answer of a text. */
export function numberQuestion(prompt: string, question: Omit<Question, 'feedback'>): ConvertedQuestion {
  const { interaction, trials, text } = question;
  const range = rangeOf(interaction, trials);
  if (range === null) return { block: null, losses: ['it names no right number'] };
  const { correct, tolerance, isOnly } = range;
  const props = {
    ...questionProps({ ...text, prompt }),
    correct,
    ...(tolerance > 0 && { tolerance }),
  };
  return { block: { type: 'Numeric', props }, losses: isOnly ? [] : ['only the first right number counts'] };
}

/** Returns the numbers that earn all points. */
function rangeOf(
  interaction: Interaction,
  trials: Trials,
): { correct: number; tolerance: number; isOnly: boolean } | null {
  const [declared] = trials.rightOf(interaction);
  const first = numberOr(declared, Number.NaN);
  const numbers = [...new Set([first, ...interaction.candidates.map((text) => numberOr(text, Number.NaN))])]
    .filter((number) => Number.isFinite(number))
    .toSorted((a, b) => a - b);
  const max = trials.gain(interaction, [declared ?? '']);
  if (numbers.length === 0) return null;
  if (max === null || max <= 0) {
    return Number.isFinite(first) ? { correct: first, tolerance: 0, isOnly: true } : null;
  }
  const isRight = (number: number) => isNear(trials.gain(interaction, [String(number)]) ?? 0, max);
  // Between two neighbors that are right, all numbers are, or none but these.
  const ranges: [number, number][] = [];
  for (const [index, number] of numbers.entries()) {
    if (!isRight(number)) continue;
    const before = numbers[index - 1];
    const last = ranges.at(-1);
    if (last !== undefined && before === last[1] && isRight((before + number) / 2)) last[1] = number;
    else ranges.push([number, number]);
  }
  const found = ranges.find(([low, high]) => low <= first && first <= high) ?? ranges[0];
  if (found === undefined) return null;
  const [low, high] = found;
  const middle = rounded((low + high) / 2);
  const isMiddle = isNear(first - low, high - first) && Number.isFinite(first);
  return {
    correct: isMiddle ? first : middle,
    tolerance: rounded((high - low) / 2),
    isOnly: ranges.length === 1,
  };
}

/** Decimal fractions are not exact in binary. */
function rounded(number: number): number {
  return Number(number.toPrecision(12));
}
