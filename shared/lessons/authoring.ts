import { playedProps, pointsFault } from './block-props.ts';
import { lessonBlocks, typeOf } from './blocks.ts';
import type { LessonBlockVisit } from './blocks.ts';
import { commonProps, coreWidgetFields, foreignProp } from './core-widget-fields.ts';
import { isCoreWidget } from './core-widgets.ts';
import type { CoreWidgetType } from './core-widgets.ts';
import { quote, recordOf } from './json-values.ts';
import type { Block, LessonContent } from './lesson-content.ts';
import { questionFaults } from './question-faults.ts';
import { nearestName } from '../platform/unknown-names.ts';

/** More warnings would not help an author. */
const maxWarnings = 1_000;

/** The maximum edit distance between a name and its misspelling. */
const maxMisspellingEdits = 2;

/**
 * Returns an author's probable mistakes in reading order, with section, step and block. A lesson with mistakes plays:
 *
 * - props that a core widget does not know, including those in the settings for all widgets of a type
 * - questions that no learner can answer correctly, and choices without an id or with an earlier choice's id
 * - points of custom widgets that cannot be counted
 *
 * Stops at 1,000 warnings.
 */
export function authoringWarnings(content: LessonContent): string[] {
  const warnings: string[] = [];
  const placeOf = blockPlaces(content);
  const { overrides } = content.lesson.widget_settings;
  for (const [type, settings] of Object.entries(overrides)) {
    if (!isCoreWidget(type)) continue;
    const place = `The settings for all widgets of the type ${type}`;
    for (const fault of unknownProps(type, settings)) warnings.push(`${place}: ${fault}`);
  }
  for (const visit of lessonBlocks(content)) {
    const type = typeOf(visit.block);
    if (type === undefined) continue;
    const faults = blockFaults(type, visit.block, overrides);
    for (const fault of faults) warnings.push(`${placeOf(visit)}: ${fault}`);
    if (warnings.length >= maxWarnings) return warnings.slice(0, maxWarnings);
  }
  return warnings;
}

/** Returns a function that says for authors where a block of the lesson is. */
export function blockPlaces(content: LessonContent): (visit: LessonBlockVisit) => string {
  const sections = new Map(content.sections.map((section, index) => [section, index]));
  return ({ block, section, step, path }) =>
    [
      `Section ${(sections.get(section) ?? 0) + 1} (${quote(section.title)})`,
      `step ${section.steps.indexOf(step) + 1} (${quote(step.title)})`,
      `${typeOf(block) ?? 'block'} ${isGeneratedId(block.props.id) ? placeInStep(path) : quote(block.props.id)}`,
    ].join(', ');
}

/** Authors do not know these ids: see generated-ids.ts. */
export function isGeneratedId(id: string): boolean {
  return /-[0-9a-f]{10}(?:-\d+)?$/.test(id);
}

/** Returns the place of a block in the content of its step, such as `at content[1].props.body[0]`. */
function placeInStep(path: string): string {
  return `at ${path.replace(/^.*?\.content\./, '')}`;
}

function blockFaults(type: string, block: Block, overrides: Record<string, unknown>): string[] {
  const played = playedProps(block, overrides);
  if (!isCoreWidget(type)) {
    const fault = pointsFault(played);
    return fault === undefined ? [] : [fault];
  }
  return [...unknownProps(type, block.props), ...(questionFaults[type]?.(played) ?? [])];
}

function unknownProps(type: CoreWidgetType, props: unknown): string[] {
  const known = [...Object.keys(coreWidgetFields[type]), ...commonProps];
  return Object.keys(recordOf(props))
    .filter((name) => !known.includes(name) && !foreignProp.test(name))
    .map((name) => {
      const nearest = nearestName(name, known, (prop) => Math.min(maxMisspellingEdits, prop.length - 1));
      return `unknown prop ${quote(name)}${nearest === null ? '' : `; did you mean "${nearest}"?`}`;
    });
}
