import type { CoreWidgetType } from './core-widgets.ts';

/**
 * The kind of value in a prop of a core widget:
 *
 * - `text`: a text without HTML, but with formulas
 * - `image`, `video`, `audio`: the URL of a media file of that kind
 * - `captions`: the URL of a WebVTT file, or a list of `{src}`
 * - `list`: a list of objects with these members
 * - `object`: an object with these members
 */
export type PropKind =
  | 'plain'
  | 'text'
  | 'html'
  | 'image'
  | 'video'
  | 'audio'
  | 'captions'
  | 'blocks'
  | { list: PropKinds }
  | { object: PropKinds };

/** The kinds of members, by name. */
export interface PropKinds {
  readonly [name: string]: PropKind;
}

/** The props of questions with one right answer. */
const wholeQuestionProps = {
  prompt: 'html',
  hint: 'html',
  points: 'plain',
  attempts: 'plain',
  showAnswers: 'plain',
  feedback: { object: { right: 'html', partly: 'html', wrong: 'html' } },
  explanation: 'html',
} as const;

/** The props of questions with several parts. */
const questionProps = { ...wholeQuestionProps, partialCredit: 'plain' } as const;

/** The props of each core widget. docs/widgets.md describes them. */
export const coreWidgetProps: Record<CoreWidgetType, PropKinds> = {
  Heading: { text: 'text', level: 'plain' },
  Text: { html: 'html' },
  Image: { src: 'image', alt: 'plain', caption: 'html', zoom: 'plain', size: 'plain' },
  Video: { src: 'video', poster: 'image', captions: 'captions', transcript: 'html' },
  Audio: { src: 'audio', captions: 'captions', transcript: 'html' },
  Callout: { kind: 'plain', title: 'text', body: 'blocks' },
  Columns: { columns: 'blocks' },
  Quote: { html: 'html', source: 'html' },
  Divider: {},
  Math: { latex: 'plain', mathml: 'html', caption: 'html' },
  Code: { code: 'plain', language: 'plain', highlighted: 'html', caption: 'html' },
  Accordion: {
    panels: { list: { title: 'text', body: 'blocks', open: 'plain' } },
    level: 'plain',
    single: 'plain',
  },
  Tabs: { tabs: { list: { title: 'text', body: 'blocks' } } },
  Flashcards: {
    cards: { list: { front: 'html', back: 'html', hint: 'html', backHint: 'html' } },
    shuffle: 'plain',
  },
  MultipleChoice: {
    ...questionProps,
    choices: {
      list: { id: 'plain', html: 'html', feedback: 'html', notChosenFeedback: 'html', hint: 'html' },
    },
    correct: 'plain',
    multiple: 'plain',
    shuffle: 'plain',
  },
  OpenResponse: { prompt: 'html', sampleAnswer: 'html' },
  FillInTheBlanks: {
    ...questionProps,
    text: 'html',
    blanks: {
      list: {
        id: 'plain',
        answers: 'plain',
        hint: 'html',
        feedback: { object: { right: 'html', wrong: 'html' } },
      },
    },
    caseSensitive: 'plain',
    ignoreAccents: 'plain',
    allowTypos: 'plain',
    wordBank: 'plain',
    distractors: 'plain',
  },
  TrueFalse: { ...wholeQuestionProps, correct: 'plain', trueLabel: 'text', falseLabel: 'text' },
  Matching: {
    ...questionProps,
    pairs: { list: { id: 'plain', left: 'html', right: 'html' } },
    distractors: { list: { id: 'plain', html: 'html' } },
  },
  Ordering: { ...questionProps, items: { list: { id: 'plain', html: 'html' } } },
  Numeric: { ...wholeQuestionProps, correct: 'plain', tolerance: 'plain', unit: 'plain' },
};

/** Props that the player reads from every block. */
export const commonProps = ['id', 'visibleIf', 'variable'] as const;
