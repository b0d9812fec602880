import { withoutTags } from '../../../lessons/blocks.ts';
import { listOf } from '../../../lessons/json-values.ts';
import { maxAnswers, maxBlankCharacters, maxBlanks } from '../../../lessons/scoring/fill-in-the-blanks.ts';
import type { ConvertedBlock } from '../../converted-lesson.ts';
import { decodeEntities, escapeHtml, questionProps, withoutGaps } from '../../questions/question-blocks.ts';
import type { ContentType, H5pContent } from '../contents.ts';
import { buttonProps, questionBlocks, rangeFeedback } from '../question.ts';
import { htmlOf } from '../texts.ts';

/* Texts with gaps, which are between stars. */

interface Gap {
  answers: string[];
  hint: string;
  feedback?: { right: string; wrong: string };
}

/** Reads what is between two stars; null if it is no gap. */
type GapReader = (inner: string) => Gap | null;

const blanks: ContentType = {
  element: 'H5P.Blanks',
  result: 'converted',
  becomes: '`FillInTheBlanks`',
  convert(content) {
    const { text, questions } = content.params;
    const lines = listOf(questions).map(htmlOf);
    const isExact = content.setting('caseSensitive') !== false;
    return gapBlocks(content, {
      ...{ prompt: htmlOf(text), texts: lines, read: (inner) => blankIn(content, inner) },
      props: {
        ...(isExact && { caseSensitive: true }),
        ...(content.setting('acceptSpellingErrors') === true && { allowTypos: true }),
      },
    });
  },
};

/** Reads `answer/other answer:tip`. */
function blankIn(content: H5pContent, inner: string): Gap | null {
  const plain = inner.replaceAll(/<\/?[a-z]*\d?>/gi, '');
  if (plain === '') return null;
  const [solution = '', ...tip] = plain.split(':');
  const answers = solution.split('/').map((answer) => decodeEntities(answer).trim());
  content.lose('gaps that learners leave empty', answers.includes(''));
  return { answers: [...new Set(answers)], hint: tip.join(':').trim() };
}

const maxWords = 100;

const dragText: ContentType = {
  element: 'H5P.DragText',
  result: 'converted',
  becomes: '`FillInTheBlanks` with a word bank',
  convert(content) {
    const { taskDescription, textField, distractors } = content.params;
    const lines = htmlOf(textField).split(/\r\n|\n|\r/);
    const others = [...htmlOf(distractors).matchAll(/\*(.+?)\*/g)].flatMap(
      ([, inner = '']) => wordIn(inner)?.answers ?? [],
    );
    const words = [...new Set(others)].slice(0, maxWords);
    content.lose(`words that fit nowhere, beyond ${maxWords}`, others.length > maxWords);
    return gapBlocks(content, {
      ...{ prompt: htmlOf(taskDescription), texts: [lines.join('<br>')], read: wordIn },
      props: { ...{ caseSensitive: true, wordBank: true }, ...(words.length > 0 && { distractors: words }) },
    });
  },
};

/** Reads `word:tip\+feedback if right\-feedback if wrong`. */
function wordIn(inner: string): Gap | null {
  const part = (pattern: RegExp) => pattern.exec(inner)?.[1]?.trim() ?? '';
  const feedback = { right: part(/\\\+([^\\*:]+)/), wrong: part(/\\-([^\\*:]+)/) };
  const word = inner
    .replace(/:[^\\*]+/, '')
    .replace(/\\\+[^\\*:]+/, '')
    .replace(/\\-[^\\*:]+/, '');
  const answer = decodeEntities(withoutTags(word)).trim();
  return answer === '' ? null : { answers: [answer], hint: part(/:([^\\*]+)/), feedback };
}

/** @param texts HTML with gaps between stars, which form pairs in each text */
function gapBlocks(
  content: H5pContent,
  { prompt, texts, read, props }: { prompt: string; texts: string[]; read: GapReader; props: object },
): ConvertedBlock[] | null {
  const gaps: Gap[] = [];
  const gapOf = (whole: string, inner: string) => {
    const gap = inner === '' ? null : read(inner);
    const answers = gap?.answers.filter((answer) => answer !== '' && answer.length <= maxBlankCharacters);
    if (gap === null || answers === undefined) return whole;
    content.lose(
      'answers that are too long',
      gap.answers.some(({ length }) => length > maxBlankCharacters),
    );
    content.lose(`more than ${maxAnswers} answers for a gap`, answers.length > maxAnswers);
    content.lose(`gaps beyond the first ${maxBlanks}`, gaps.length >= maxBlanks);
    if (gaps.length >= maxBlanks) return escapeHtml(answers[0] ?? '');
    if (answers.length === 0) return '';
    gaps.push({ ...gap, answers: answers.slice(0, maxAnswers) });
    return `[[${gaps.length}]]`;
  };
  const lines = texts.map((text) => withoutGaps(text).replaceAll(/\*([^*]*)\*/g, gapOf));
  const html = lines.length > 1 ? lines.map((line) => `<div>${line}</div>`).join('') : lines.join('');
  content.lose('it has no gaps', gaps.length === 0);
  if (gaps.length === 0) return null;
  const question = { prompt, feedback: rangeFeedback(content, gaps.length) };
  return questionBlocks(content, 'FillInTheBlanks', {
    ...questionProps(question),
    ...{ text: html, blanks: gaps.map(blankOf) },
    ...props,
    ...buttonProps(content),
  });
}

function blankOf({ answers, hint, feedback }: Gap, index: number): object {
  const shown = Object.entries(feedback ?? {}).filter(([, html]) => html !== '');
  return {
    ...{ id: String(index + 1), answers },
    ...(hint !== '' && { hint }),
    ...(shown.length > 0 && { feedback: Object.fromEntries(shown) }),
  };
}

export const gapTypes = [blanks, dragText];
