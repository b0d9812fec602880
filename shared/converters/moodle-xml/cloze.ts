import { acceptedAnswers, questionProps, withoutGaps, wordsOf } from '../questions/question-blocks.ts';
import type { ConvertedQuestion, QuestionText } from '../questions/question-blocks.ts';
import { divide, splitOnce, unescape } from '../gift/gift-syntax.ts';
import { weightOf } from '../gift/gift-question.ts';

/** `{1:SHORTANSWER:=right~%50%half#feedback}`, with the number of its points before it. */
const embedded =
  /\{(\d*):(SHORTANSWER(?:_C)?|SA|SAC|MW|MWC|NUMERICAL|NM|MULTI(?:CHOICE|RESPONSE)\w*|MC\w*|MR\w*):((?:[^{}\\]|\\.)*)\}/gs;

/** A question with answers in its text (cloze). */
export function clozeQuestion(text: QuestionText): ConvertedQuestion {
  const blanks: { id: string; answers: string[] }[] = [];
  const losses = new Set<string>();
  let points = 0;
  let hasChoices = false;
  const parts = text.prompt.split(embedded);
  let html = withoutGaps(parts[0] ?? '');
  for (let at = 1; at < parts.length; at += 4) {
    const [weight = '', type = '', written = '', after = ''] = parts.slice(at, at + 4);
    points += Number(weight || '1');
    const answers = divide(`~${written.replace(/^~/, '')}`, '~')
      .slice(1)
      .map((one) => readAnswer(one.slice(1)));
    if (/^N/.test(type)) losses.add('numbers are compared as texts, without a tolerance');
    if (/^M[CUR]/.test(type)) hasChoices = true;
    const numbers = /^N/.test(type)
      ? answers.map((one) => ({ ...one, text: one.text.replace(/:.*$/, '') }))
      : answers;
    const { accepted, losses: lost } = acceptedAnswers(numbers);
    for (const loss of lost) losses.add(loss);
    const id = `g${blanks.length + 1}`;
    if (accepted.length === 0) return { block: null, losses: ['a gap has no answer that earns all points'] };
    blanks.push({ id, answers: accepted });
    html += `[[${id}]]${withoutGaps(after)}`;
  }
  if (blanks.length === 0) return { block: null, losses: ['it has no gaps'] };
  if (hasChoices) losses.add('learners type the answers that they chose');
  const props = { ...questionProps({ ...text, prompt: '', points }), text: html, blanks };
  return { block: { type: 'FillInTheBlanks', props }, losses: [...losses] };
}

function readAnswer(written: string): { text: string; weight: number; feedback: string | undefined } {
  const [answer, feedback] = splitOnce(written, '#');
  const isRight = answer.startsWith('=');
  const { weight, rest } = weightOf(isRight ? answer.slice(1) : answer, isRight ? 1 : 0);
  return {
    text: wordsOf(unescape(rest)),
    weight,
    feedback: feedback === null ? undefined : unescape(feedback),
  };
}
