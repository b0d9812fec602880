import { createHash } from 'node:crypto';
import { inlineHtml } from '../markdown/text-file.ts';
import type { ConvertedMedia } from '../media.ts';
import {
  hasText,
  escapeHtml,
  matching,
  multipleChoice,
  numeric,
  openResponse,
  questionProps,
  shortAnswer,
  trueFalse,
  withoutGaps,
  wordsOf,
} from '../questions/question-blocks.ts';
import type { ConvertedQuestion, QuestionText, WeightedAnswer } from '../questions/question-blocks.ts';
import { childOf, childrenOf, textIn } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { clozeQuestion } from './cloze.ts';
import { decodePath } from '../../platform/parse-url.ts';

/** Reads the texts of a question, with their files. */
export class MoodleTexts {
  readonly losses: string[] = [];
  readonly #media: ConvertedMedia;

  constructor(media: ConvertedMedia) {
    this.#media = media;
  }

  /** Returns a text as HTML: an element with `<text>`, a format, and files in base64. */
  html(element: XmlElement | undefined): string {
    if (element === undefined) return '';
    const text = textIn(element, 'text');
    const { format = 'html' } = element.attributes;
    if (format === 'plain_text') return escapeHtml(text);
    if (format === 'markdown') return this.#withFiles(inlineHtml(text), element);
    return this.#withFiles(text, element);
  }

  #withFiles(html: string, element: XmlElement): string {
    const files = new Map(
      childrenOf(element, 'file').map((file) => {
        const { path = '/', name = '' } = file.attributes;
        return [`${path}${name}`, file] as const;
      }),
    );
    return html.replaceAll(/@@PLUGINFILE@@([^"'\s<>)]*)/g, (whole, written: string) => {
      const path = decodePath(written.replace(/[?#].*$/, ''));
      const file = files.get(path);
      if (file === undefined) {
        this.losses.push(`the file ${path} is missing`);
        return whole;
      }
      const bytes = Buffer.from(file.text, 'base64');
      // Questions have different files under one path.
      return this.#media.bytes(createHash('sha256').update(bytes).digest('hex') + path, bytes);
    });
  }
}

type Convert = (question: XmlElement, text: QuestionText, texts: MoodleTexts) => ConvertedQuestion;

const types: Record<string, Convert> = {
  multichoice: (question, text, texts) =>
    multipleChoice(
      text,
      answersOf(question, (answer) => texts.html(answer), texts),
      {
        isSingle: isTrue(textOr(question, 'single', 'true')),
        shuffle: isTrue(textOr(question, 'shuffleanswers', 'true')),
      },
    ),
  truefalse: (question, text, texts) => {
    const answers = answersOf(question, (answer) => textIn(answer, 'text').toLowerCase(), texts);
    const right = answers.find(({ weight }) => weight > 0);
    const wrong = answers.find(({ weight }) => weight <= 0);
    const feedback = { right: right?.feedback, wrong: wrong?.feedback };
    return trueFalse({ ...text, feedback }, right?.text === 'true');
  },
  shortanswer: (question, text, texts) =>
    shortAnswer(
      text,
      answersOf(question, (answer) => textIn(answer, 'text'), texts),
      {
        caseSensitive: textIn(question, 'usecase') === '1',
      },
    ),
  numerical: (question, text, texts) => {
    const unit = textIn(childOf(childOf(question, 'units'), 'unit'), 'unit_name');
    const answers = childrenOf(question, 'answer').map((answer) => ({
      value: Number(textIn(answer, 'text')),
      tolerance: Number(textIn(answer, 'tolerance') || '0'),
      weight: Number(answer.attributes.fraction ?? '0') / 100,
      feedback: texts.html(childOf(answer, 'feedback')),
    }));
    const numbers = answers.filter(({ value }) => Number.isFinite(value));
    const other = answers.find(({ value, feedback }) => !Number.isFinite(value) && hasText(feedback));
    const feedback = other === undefined ? {} : { wrong: other.feedback };
    return numeric({ ...text, feedback: { ...feedback, ...text.feedback } }, numbers, unit);
  },
  matching: (question, text, texts) =>
    matching(
      text,
      childrenOf(question, 'subquestion').map((pair) => ({
        left: texts.html(pair),
        right: escapeHtml(textIn(childOf(pair, 'answer'), 'text')),
      })),
    ),
  essay: (question, text, texts) => {
    const converted = openResponse(text, texts.html(childOf(question, 'graderinfo')));
    const hasTemplate = textIn(childOf(question, 'responsetemplate'), 'text') !== '';
    return {
      ...converted,
      losses: [...converted.losses, ...(hasTemplate ? ['its template is left out'] : [])],
    };
  },
  description: (_question, text) => ({ block: { type: 'Text', props: { html: text.prompt } }, losses: [] }),
  ordering: (question, text, texts) => {
    const items = childrenOf(question, 'answer').map((answer, index) => ({
      ...{ id: `i${index + 1}`, html: texts.html(answer) },
    }));
    if (items.length < 2) return { block: null, losses: ['it has fewer than two items'] };
    return { block: { type: 'Ordering', props: { ...questionProps(text), items } }, losses: [] };
  },
  ddwtos: (question, text) => wordBank(question, text, 'dragbox'),
  gapselect: (question, text) => wordBank(question, text, 'selectoption'),
  cloze: (_question, text) => clozeQuestion(text),
};

export function convertMoodleQuestion(
  question: XmlElement,
  kind: string,
  media: ConvertedMedia,
): ConvertedQuestion {
  const convert = Object.hasOwn(types, kind) ? types[kind] : undefined;
  if (convert === undefined) {
    return { block: null, losses: [`questions of the type ${kind} have no counterpart`] };
  }
  const texts = new MoodleTexts(media);
  const [hint, ...hints] = childrenOf(question, 'hint').filter((one) => textIn(one, 'text') !== '');
  const grade = Number(textIn(question, 'defaultgrade') || '1');
  const text: QuestionText = {
    prompt: texts.html(childOf(question, 'questiontext')),
    explanation: texts.html(childOf(question, 'generalfeedback')),
    hint: texts.html(hint),
    points: Number.isFinite(grade) && grade >= 0 ? grade : 1,
    feedback: {
      right: texts.html(childOf(question, 'correctfeedback')),
      partly: texts.html(childOf(question, 'partiallycorrectfeedback')),
      wrong: texts.html(childOf(question, 'incorrectfeedback')),
    },
  };
  const converted = convert(question, text, texts);
  const lost = hints.length > 0 ? ['only the first hint is shown'] : [];
  return { ...converted, losses: [...texts.losses, ...lost, ...converted.losses] };
}

function textOr(question: XmlElement, name: string, otherwise: string): string {
  return textIn(question, name) || otherwise;
}

function isTrue(text: string): boolean {
  return text === 'true' || text === '1';
}

function answersOf(
  question: XmlElement,
  textOf: (answer: XmlElement) => string,
  texts: MoodleTexts,
): WeightedAnswer[] {
  return childrenOf(question, 'answer').map((answer) => ({
    text: textOf(answer),
    weight: Number(answer.attributes.fraction ?? '0') / 100,
    feedback: texts.html(childOf(answer, 'feedback')),
  }));
}

/** Gaps `[[1]]` whose numbers are those of options; the others are wrong words. */
function wordBank(question: XmlElement, text: QuestionText, element: string): ConvertedQuestion {
  const options = childrenOf(question, element);
  const words = options.map((option) => wordsOf(textIn(option, 'text')));
  const used = new Set<number>();
  const blanks: { id: string; answers: string[] }[] = [];
  const losses: string[] = [];
  const html = text.prompt.replaceAll(/\[\[(\d+)\]\]/g, (whole, written: string) => {
    const number = Number(written);
    const word = words[number - 1];
    if (word === undefined) return withoutGaps(whole);
    used.add(number);
    blanks.push({ id: `g${blanks.length + 1}`, answers: [word] });
    return `[[g${blanks.length}]]`;
  });
  if (blanks.length === 0) return { block: null, losses: ['it has no gaps'] };
  const groups = new Set(options.map((option) => textIn(option, 'group')));
  if (groups.size > 1) losses.push('all gaps share one word bank');
  const distractors = words.filter((word, index) => word !== '' && !used.has(index + 1));
  const props = {
    ...questionProps({ ...text, prompt: '' }),
    ...{ text: html, blanks, wordBank: true },
    ...(distractors.length > 0 && { distractors }),
  };
  return { block: { type: 'FillInTheBlanks', props }, losses };
}
