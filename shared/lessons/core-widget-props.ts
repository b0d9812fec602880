import type { CoreWidgetType } from './core-widgets.ts';

/**
 * The kind of value in a prop of a core widget:
 *
 * - `image`, `video`, `audio`: the URL of a media file of that kind
 * - `captions`: the URL of a WebVTT file, or a list of `{src}`
 * - `list`: a list of objects with these members
 * - `object`: an object with these members
 */
export type PropKind =
  | 'plain'
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

/** The props that all questions with points share. */
const questionProps = {
  prompt: 'html',
  points: 'plain',
  partialCredit: 'plain',
  attempts: 'plain',
  showAnswers: 'plain',
  feedback: { object: { right: 'html', partly: 'html', wrong: 'html' } },
  explanation: 'html',
} as const;

/** The props of each core widget. docs/widgets.md describes them. */
export const coreWidgetProps: Record<CoreWidgetType, PropKinds> = {
  Heading: { text: 'plain', level: 'plain' },
  Text: { html: 'html' },
  Image: { src: 'image', alt: 'plain', caption: 'html', zoom: 'plain' },
  Video: { src: 'video', poster: 'image', captions: 'captions', transcript: 'html' },
  Audio: { src: 'audio', captions: 'captions', transcript: 'html' },
  Callout: { title: 'plain', body: 'blocks' },
  Columns: { columns: 'blocks' },
  MultipleChoice: {
    ...questionProps,
    choices: { list: { id: 'plain', html: 'html', feedback: 'html' } },
    correct: 'plain',
    multiple: 'plain',
  },
  OpenResponse: { prompt: 'html', sampleAnswer: 'html' },
};

/** Props that the player reads from every block. */
export const commonProps = ['id', 'visibleIf', 'variable'] as const;
