import type { CoreWidgetType } from './core-widgets.ts';

/**
 * The kind of value in a prop of a core widget:
 *
 * - `image`, `video`, `audio`: the URL of a media file of that kind
 * - `captions`: the URL of a WebVTT file, or a list of `{src}`
 * - `choices`, `feedback`: objects that contain HTML
 */
export type PropKind =
  'plain' | 'html' | 'image' | 'video' | 'audio' | 'captions' | 'choices' | 'feedback' | 'blocks';

/** The props of each core widget. docs/widgets.md describes them. */
export const coreWidgetProps: Record<CoreWidgetType, Readonly<Record<string, PropKind>>> = {
  Heading: { text: 'plain', level: 'plain' },
  Text: { html: 'html' },
  Image: { src: 'image', alt: 'plain', caption: 'html', zoom: 'plain' },
  Video: { src: 'video', poster: 'image', captions: 'captions', transcript: 'html' },
  Audio: { src: 'audio', captions: 'captions', transcript: 'html' },
  Callout: { title: 'plain', body: 'blocks' },
  Columns: { columns: 'blocks' },
  MultipleChoice: {
    prompt: 'html',
    choices: 'choices',
    correct: 'plain',
    multiple: 'plain',
    points: 'plain',
    partialCredit: 'plain',
    attempts: 'plain',
    feedback: 'feedback',
    explanation: 'html',
  },
  OpenResponse: { prompt: 'html', sampleAnswer: 'html' },
};

/** Props that the player reads from every block. */
export const commonProps = ['id', 'visibleIf', 'variable'] as const;
