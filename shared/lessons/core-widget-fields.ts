import type { CoreWidgetType } from './core-widgets.ts';
import { maxAnswers, maxBlankCharacters } from './scoring/fill-in-the-blanks.ts';
import type { FieldChoice, Fields } from './widget-fields.ts';

const right = { kind: 'html', label: 'When right' } as const;
const partly = { kind: 'html', label: 'When partly right' } as const;
const wrong = { kind: 'html', label: 'When wrong' } as const;
const explanation = 'learners see it with the right answer';
const caption = { kind: 'html', label: 'Caption' } as const;
const transcript = { kind: 'html', label: 'Transcript', help: 'unfolds below the player' } as const;
const captions = { kind: 'captions', label: 'Captions' } as const;
const body = { kind: 'blocks', label: 'Contents', required: true } as const;
const title = { kind: 'text', label: 'Title', hasFormulas: true, required: true } as const;
const partId = { kind: 'text', label: 'Id', isId: true, help: 'names it in stored answers' } as const;
const partText = { kind: 'html', label: 'Text', required: true } as const;
const hint = { kind: 'html', label: 'Hint', help: 'a button shows it', group: 'feedback' } as const;
const shuffle = {
  kind: 'boolean',
  label: 'Shuffle',
  help: 'in the same order for all learners',
  group: 'options',
} as const;

function levels(first: number): FieldChoice[] {
  return Array.from({ length: 7 - first }, (_, index) => ({
    value: index + first,
    label: `Level ${index + first}`,
  }));
}

/** Without it, each part of the question earns a point. */
const pointsOfParts = {
  kind: 'number',
  label: 'Points',
  help: 'with 0, the answer is stored but not scored',
  min: 0,
  group: 'scoring',
} as const;

/** The fields of questions with one right answer. */
const wholeQuestionFields = {
  prompt: { kind: 'html', label: 'Question' },
  hint: { ...hint, help: 'a button shows and hides it, before and after the answer' },
  points: { ...pointsOfParts, default: 1 },
  attempts: {
    kind: 'number',
    label: 'Tries',
    help: 'how often a learner can check an answer; without it, until the answer is right',
    min: 1,
    isWhole: true,
    group: 'scoring',
  },
  showAnswers: {
    kind: 'boolean',
    label: 'Show the right answer',
    help: 'false hides the explanation, too, for a test',
    default: true,
    group: 'feedback',
  },
  feedback: {
    kind: 'object',
    label: 'Feedback',
    help: 'for the whole answer',
    fields: { right, partly, wrong },
    group: 'feedback',
  },
  explanation: { kind: 'html', label: 'Explanation', help: explanation, group: 'feedback' },
} as const satisfies Fields;

const partialCredit = {
  kind: 'boolean',
  label: 'Partial credit',
  help: 'points for each part that is right',
  default: true,
  group: 'scoring',
} as const;

/** The fields of questions with several parts. */
export const questionFields = { ...wholeQuestionFields, partialCredit } as const satisfies Fields;

/** The fields of each core widget: its props, except those that every block has ({@link commonProps}). */
export const coreWidgetFields = {
  Heading: {
    text: { kind: 'text', label: 'Text', hasFormulas: true, required: true },
    level: { kind: 'choice', label: 'Level', choices: levels(1), default: 2 },
  },
  Text: { html: { kind: 'html', label: 'Text', required: true } },
  Image: {
    src: { kind: 'image', label: 'Picture', required: true },
    alt: {
      kind: 'text',
      label: 'Description',
      help: 'what the picture shows; empty if decorative',
    },
    caption,
    zoom: {
      kind: 'boolean',
      label: 'Zoom',
      help: 'a picture larger than its space gets a button that opens it at full size',
      default: true,
      group: 'options',
    },
    size: {
      kind: 'object',
      label: 'Size in pixels',
      isGenerated: true,
      fields: {
        width: { kind: 'number', label: 'Width', min: 1, max: 100_000, isWhole: true, required: true },
        height: { kind: 'number', label: 'Height', min: 1, max: 100_000, isWhole: true, required: true },
        isFluid: { kind: 'boolean', label: 'As wide as its container' },
      },
    },
  },
  Video: {
    src: { kind: 'video', label: 'Video', help: 'a file, or a page at YouTube or Vimeo', required: true },
    poster: { kind: 'image', label: 'Picture before it plays' },
    captions,
    transcript,
  },
  Audio: { src: { kind: 'audio', label: 'Recording', required: true }, captions, transcript },
  Quote: {
    html: { kind: 'html', label: 'Quotation', required: true },
    source: { kind: 'html', label: 'Source' },
  },
  Divider: {},
  Callout: {
    kind: {
      kind: 'choice',
      label: 'Kind',
      help: 'adds its color and icon',
      choices: [
        { value: 'note', label: 'Note' },
        { value: 'tip', label: 'Tip' },
        { value: 'warning', label: 'Warning' },
        { value: 'example', label: 'Example' },
      ],
    },
    title: { kind: 'text', label: 'Title', help: 'else the name of the kind', hasFormulas: true },
    body,
  },
  Columns: {
    columns: {
      kind: 'blocks',
      label: 'Columns',
      help: 'one below the other on a narrow screen',
      inColumns: true,
      required: true,
    },
  },
  Accordion: {
    panels: {
      kind: 'list',
      label: 'Panels',
      required: true,
      fields: { title, body, open: { kind: 'boolean', label: 'Open at first' } },
    },
    single: { kind: 'boolean', label: 'Opens one panel at a time', group: 'options' },
    level: { kind: 'choice', label: 'Level of the titles', choices: levels(2), default: 2, group: 'options' },
  },
  Tabs: { tabs: { kind: 'list', label: 'Tabs', required: true, fields: { title, body } } },
  Flashcards: {
    cards: {
      kind: 'list',
      label: 'Cards',
      required: true,
      fields: {
        front: { kind: 'html', label: 'Front', required: true },
        back: { kind: 'html', label: 'Back', required: true },
        hint: { kind: 'html', label: 'Hint on the front' },
        backHint: { kind: 'html', label: 'Hint on the back' },
      },
    },
    shuffle,
  },
  Code: {
    code: { kind: 'text', label: 'Program', required: true },
    language: { kind: 'text', label: 'Language', help: 'such as python' },
    caption,
    highlighted: { kind: 'html', label: 'Program in color', isGenerated: true },
  },
  Math: {
    latex: { kind: 'text', label: 'LaTeX', required: true },
    mathml: { kind: 'html', label: 'MathML', insteadOf: 'latex', isGenerated: true },
    caption,
  },
  MultipleChoice: {
    choices: {
      kind: 'list',
      label: 'Choices',
      required: true,
      fields: {
        id: partId,
        html: partText,
        correct: { kind: 'boolean', label: 'Right choice', help: 'only in choices without ids' },
        feedback: { kind: 'html', label: 'Feedback when chosen' },
        notChosenFeedback: { kind: 'html', label: 'Feedback when not chosen' },
        hint,
      },
    },
    correct: {
      kind: 'texts',
      label: 'Right choices',
      help: 'the ids of the right choices; a question without any is not scored',
      areIds: true,
    },
    multiple: {
      kind: 'boolean',
      label: 'Checkboxes even if one choice is right',
      group: 'options',
    },
    shuffle,
    ...questionFields,
    partialCredit: { ...partialCredit, default: false },
  },
  TrueFalse: {
    correct: { kind: 'boolean', label: 'The statement is true', required: 'ifScored' },
    trueLabel: { kind: 'text', label: 'Text for true', hasFormulas: true, group: 'options' },
    falseLabel: { kind: 'text', label: 'Text for false', hasFormulas: true, group: 'options' },
    ...wholeQuestionFields,
  },
  FillInTheBlanks: {
    text: { kind: 'html', label: 'Text', help: 'with a gap `[[id]]` for each of the blanks', required: true },
    blanks: {
      kind: 'list',
      label: 'Gaps',
      required: true,
      fields: {
        id: { ...partId, help: 'letters, digits, `-` and `_`', required: true },
        answers: {
          kind: 'texts',
          label: 'Accepted answers',
          help: 'learners see the first one when the question closes',
          required: true,
          maxItems: maxAnswers,
          maxLength: maxBlankCharacters,
        },
        hint,
        feedback: { kind: 'object', label: 'Feedback', fields: { right, wrong } },
      },
    },
    caseSensitive: { kind: 'boolean', label: 'Case counts', group: 'options' },
    ignoreAccents: { kind: 'boolean', label: 'Accents do not count', group: 'options' },
    allowTypos: {
      kind: 'boolean',
      label: 'Accept typos',
      help: 'one wrong, missing, extra or swapped character in words from 4 characters, two from 10; never in numbers',
      group: 'options',
    },
    wordBank: {
      kind: 'boolean',
      label: 'Word bank',
      help: 'learners choose among the right words of all gaps and the distractors',
      group: 'options',
    },
    distractors: { kind: 'texts', label: 'Distractors', help: 'wrong words in the word bank' },
    ...questionFields,
    points: pointsOfParts,
  },
  Matching: {
    pairs: {
      kind: 'list',
      label: 'Pairs',
      required: true,
      fields: {
        id: partId,
        left: { kind: 'html', label: 'Left', required: true },
        right: { kind: 'html', label: 'Right', required: true },
      },
    },
    distractors: {
      kind: 'list',
      label: 'Distractors',
      help: 'right sides that belong to no pair',
      fields: { id: partId, html: partText },
    },
    ...questionFields,
    points: pointsOfParts,
  },
  Ordering: {
    items: {
      kind: 'list',
      label: 'Items',
      help: 'in the right order',
      required: true,
      fields: { id: partId, html: partText },
    },
    ...questionFields,
  },
  Numeric: {
    correct: { kind: 'number', label: 'Right number', required: 'ifScored' },
    tolerance: {
      kind: 'number',
      label: 'Tolerance',
      min: 0,
      allowsPercentage: true,
      help: 'the accepted difference',
    },
    unit: { kind: 'text', label: 'Unit' },
    ...wholeQuestionFields,
  },
  OpenResponse: {
    prompt: { kind: 'html', label: 'Question' },
    sampleAnswer: { kind: 'html', label: 'Sample answer', help: 'learners see it after their own' },
  },
} as const satisfies Record<CoreWidgetType, Fields>;

/** Props that the player reads from every block. */
export const commonProps = ['id', 'visibleIf', 'variable'] as const;

/** Props that the Puck editor itself writes, and names that mark a prop as an author's own. */
export const foreignProp = /^(?:puck|editMode|readOnly|children|_.*|data-.*)$/;
