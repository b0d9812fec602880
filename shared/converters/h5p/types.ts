import type { ContentType } from './contents.ts';
import { choiceTypes } from './types/choices.ts';
import { gapTypes } from './types/gaps.ts';
import { interactiveVideo } from './types/interactive-video.ts';
import { markTheWords } from './types/mark-the-words.ts';
import { mediaTypes } from './types/media.ts';
import { pageTypes } from './types/pages.ts';
import { practiceTypes } from './types/practice.ts';
import { textTypes } from './types/texts.ts';

/** The types of content that become blocks. docs/import/h5p.md shows them. */
export const contentTypes: readonly ContentType[] = [
  ...choiceTypes,
  ...gapTypes,
  markTheWords,
  ...practiceTypes,
  ...mediaTypes,
  ...textTypes,
  ...pageTypes,
  interactiveVideo,
];
