import { questionOf, scoreMultipleChoice } from './scoring.ts';
import type { QuestionFacts, Score } from './scoring.ts';

/** How the server scores answers to a core widget. */
export interface WidgetScoring {
  /** Returns what scoring needs of the block's props, for the outline; null for a block that is not scored. */
  questionOf: (props: unknown) => QuestionFacts | null;
  /** Returns what an answer earns. */
  score: (question: QuestionFacts, answer: unknown) => Score | null;
}

const unscored: WidgetScoring | null = null;

/**
 * The widgets that ship with Lectern, each with its scoring. They are Lectern's own in every lesson, whatever a package
 * brings. The compiler asks for each in the player (widget-loader.ts) and for its props (core-widget-props.ts).
 */
export const coreWidgets = {
  Heading: unscored,
  Text: unscored,
  Image: unscored,
  Video: unscored,
  Audio: unscored,
  Callout: unscored,
  Columns: unscored,
  MultipleChoice: { questionOf, score: scoreMultipleChoice },
  OpenResponse: unscored,
} satisfies Record<string, WidgetScoring | null>;

export type CoreWidgetType = keyof typeof coreWidgets;

export const coreWidgetTypes = Object.keys(coreWidgets) as CoreWidgetType[];

export function isCoreWidget(type: string): type is CoreWidgetType {
  return Object.hasOwn(coreWidgets, type);
}

/** Returns how answers to a widget are scored; null for a custom widget, and for one that the server does not score. */
export function scoringOf(type: string): WidgetScoring | null {
  return isCoreWidget(type) ? coreWidgets[type] : null;
}
