import { fillInTheBlanksScoring } from './scoring/fill-in-the-blanks.ts';
import { multipleChoiceScoring } from './scoring/multiple-choice.ts';
import { matchingScoring } from './scoring/matching.ts';
import { numericScoring } from './scoring/numeric.ts';
import { orderingScoring } from './scoring/ordering.ts';
import { trueFalseScoring } from './scoring/true-false.ts';
import type { WidgetScoring } from './scoring/scoring.ts';

const unscored = null;

/**
 * The widgets that ship with Lectern, each with its scoring. Versions that are imported with a core type get Lectern's
 * widget, even if their packages have one of the same type. For older versions, see {@link OwnTypes}. The compiler
 * requires an entry for each widget's fields (core-widget-fields.ts) and, unless it is loaded on demand, in the player
 * (widget-loader.ts).
 */
export const coreWidgets = {
  Heading: unscored,
  Text: unscored,
  Image: unscored,
  Video: unscored,
  Audio: unscored,
  Callout: unscored,
  Columns: unscored,
  Quote: unscored,
  Divider: unscored,
  Math: unscored,
  Code: unscored,
  Accordion: unscored,
  Tabs: unscored,
  Flashcards: unscored,
  MultipleChoice: multipleChoiceScoring,
  OpenResponse: unscored,
  TrueFalse: trueFalseScoring,
  FillInTheBlanks: fillInTheBlanksScoring,
  Matching: matchingScoring,
  Ordering: orderingScoring,
  Numeric: numericScoring,
} satisfies Record<string, WidgetScoring | null>;

export type CoreWidgetType = keyof typeof coreWidgets;

/** The core widgets whose answers the server scores. */
export type ScoredWidgetType = {
  [Type in CoreWidgetType]: (typeof coreWidgets)[Type] extends null ? never : Type;
}[CoreWidgetType];

/**
 * The core widgets that player.js does not contain. The player loads each with its texts and styles, from a file
 * beside player.js, when a learner comes to a step that has it.
 */
export const onDemandTypes = [
  'Accordion',
  'Code',
  'FillInTheBlanks',
  'Flashcards',
  'Matching',
  'Numeric',
  'Ordering',
  'Tabs',
] as const satisfies readonly CoreWidgetType[];

export type OnDemandType = (typeof onDemandTypes)[number];

export const coreWidgetTypes = Object.keys(coreWidgets) as CoreWidgetType[];

export function isCoreWidget(type: string): type is CoreWidgetType {
  return Object.hasOwn(coreWidgets, type);
}

/**
 * Types that became core types after a version was published with its own widgets of these types. In that version, they
 * are custom widgets.
 */
export type OwnTypes = readonly string[];

/** Returns whether a widget of a version is a core widget. */
export function isCoreIn(ownTypes: OwnTypes, type: string): type is CoreWidgetType {
  return isCoreWidget(type) && !ownTypes.includes(type);
}

/** Returns whether a core widget asks a question that the server does not score. */
export function isOpenQuestion(type: string): boolean {
  return type === ('OpenResponse' satisfies CoreWidgetType);
}

/** Returns how answers to a widget are scored; null for custom widgets and for those that the server does not score. */
export function scoringOf(type: string): WidgetScoring | null {
  return isCoreWidget(type) ? coreWidgets[type] : null;
}
