import { lessonBlocks, withoutTags } from '../../lessons/blocks.ts';
import { listOf, recordOf } from '../../lessons/json-values.ts';
import type { LessonContent } from '../../lessons/lesson-content.ts';
import { acceptedIn, gapIds } from '../../lessons/scoring/fill-in-the-blanks.ts';
import { textOf } from '../../lessons/scoring/scoring.ts';

export interface WrittenGift {
  text: string;
  /** What GIFT cannot express and is left out, for people. */
  losses: string[];
}

/** Writes the questions of a lesson in GIFT. Sections become categories. */
export function writeGift(content: LessonContent): WrittenGift {
  const losses: string[] = [];
  const lines: string[] = [`// ${content.lesson.title.replaceAll(/\s+/g, ' ')}`];
  let category: unknown = null;
  for (const { block, section } of lessonBlocks(content)) {
    const { type = '' } = block;
    const write = Object.hasOwn(writers, type) ? writers[type] : undefined;
    if (write === undefined) continue;
    const name = `${block.type} ${block.props.id}`;
    const answers = write(block.props);
    if (answers === null) {
      losses.push(name);
      continue;
    }
    if (section !== category) {
      lines.push(`$CATEGORY: ${section.title.replaceAll('/', '//').replaceAll(/\s+/g, ' ')}`);
    }
    category = section;
    const question = giftQuestion(block.props, answers);
    if (question.includes('media\\:')) losses.push(`the media of ${name}`);
    const lost = lostProps(block.type ?? '', block.props);
    if (lost.length > 0) losses.push(`${lost.join(', ')} of ${name}`);
    lines.push(`::${escaped(block.props.id)}::[html]${question}`);
  }
  return { text: `${lines.join('\n\n')}\n`, losses };
}

/** Props of questions that GIFT does not have. */
const unwritten = [
  ...[
    'hint',
    'points',
    'attempts',
    'showAnswers',
    'caseSensitive',
    'ignoreAccents',
    'allowTypos',
    'wordBank',
  ],
  ...['trueLabel', 'falseLabel', 'unit', 'sampleAnswer', 'visibleIf', 'variable'],
];

function lostProps(type: string, props: Record<string, unknown>): string[] {
  const lost = type === 'TrueFalse' || type === 'Numeric' ? unwritten : [...unwritten, 'feedback'];
  return Object.keys(props).filter((name) => lost.includes(name));
}

interface Answers {
  text: string;
  /** The question in GIFT, with `[[]]` for its gap; by default the prompt. */
  question?: string;
}

function giftQuestion({ prompt, explanation }: Record<string, unknown>, answers: Answers): string {
  const general = textOf(explanation) === '' ? '' : `####${escaped(textOf(explanation))}`;
  const inBraces = `{${answers.text}${general}}`;
  const question = answers.question ?? escaped(textOf(prompt));
  return question.includes('[[]]') ? question.replace('[[]]', () => inBraces) : `${question} ${inBraces}`;
}

/** Returns HTML for GIFT, in one line: a blank line would end the question. */
function escaped(html: string): string {
  return html.replaceAll(/\s*\n\s*/g, ' ').replaceAll(/[\\~=#{}:]/g, String.raw`\$&`);
}

function feedbackOf(html: unknown): string {
  return textOf(html) === '' ? '' : ` #${escaped(textOf(html))}`;
}

const writers: Record<string, (props: Record<string, unknown>) => Answers | null> = {
  MultipleChoice({ choices, correct, multiple }) {
    const right = listOf(correct);
    if (right.length === 0) return null;
    const isMultiple = multiple === true || right.length > 1;
    const share = Number((100 / right.length).toFixed(5));
    const written = listOf(choices).map((choice) => {
      const { id, html, feedback } = recordOf(choice);
      const isRight = right.includes(id);
      const single = isRight ? '=' : '~';
      const mark = isMultiple ? `~%${isRight ? '' : '-'}${share}%` : single;
      return `${mark}${escaped(textOf(html))}${feedbackOf(feedback)}`;
    });
    return { text: written.join(' ') };
  },
  TrueFalse({ correct, feedback }) {
    if (typeof correct !== 'boolean') return null;
    const { right, wrong } = recordOf(feedback);
    const notes = [wrong, right].map((html) => `#${escaped(textOf(html))}`).join('');
    return { text: `${correct ? 'TRUE' : 'FALSE'}${notes === '##' ? '' : notes}` };
  },
  FillInTheBlanks({ text, blanks, prompt }) {
    const [id, ...others] = gapIds(textOf(text));
    const blank = listOf(blanks)
      .map(recordOf)
      .find((one) => one.id === id);
    const answers = acceptedIn(blank?.answers);
    // A question in GIFT has one gap.
    if (id === undefined || others.length > 0 || answers.length === 0) return null;
    const gap = textOf(text).replace(`[[${id}]]`, '[[]]');
    return {
      text: answers.map((answer) => `=${escaped(answer.replaceAll('*', String.raw`\*`))}`).join(' '),
      question: [textOf(prompt), gap]
        .filter((part) => part !== '')
        .map(escaped)
        .join(' '),
    };
  },
  Matching({ pairs, distractors }) {
    const plain = (html: unknown) => escaped(withoutTags(textOf(html)).trim());
    const written = listOf(pairs)
      .map(recordOf)
      .map(({ left, right }) => `=${escaped(textOf(left))} -> ${plain(right)}`);
    const others = listOf(distractors).map((one) => `= -> ${plain(recordOf(one).html)}`);
    return written.length === 0 ? null : { text: [...written, ...others].join(' ') };
  },
  Numeric({ correct, tolerance, feedback }) {
    if (typeof correct !== 'number') return null;
    const percentage = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(textOf(tolerance))?.[1];
    const around = percentage === undefined ? tolerance : (Math.abs(correct) * Number(percentage)) / 100;
    const note = textOf(recordOf(feedback).right);
    const range = `${correct}:${typeof around === 'number' ? around : 0}`;
    return { text: `#${range}${note === '' ? '' : `#${escaped(note)}`}` };
  },
  OpenResponse: () => ({ text: '' }),
  // GIFT has no such questions.
  Ordering: () => null,
};
