import { playedProps, pointsFault } from './block-props.ts';
import { lessonBlocks, typeOf } from './blocks.ts';
import { commonProps, coreWidgetProps } from './core-widget-props.ts';
import { isCoreWidget } from './core-widgets.ts';
import type { CoreWidgetType } from './core-widgets.ts';
import { listOf, quote, recordOf } from './json-values.ts';
import type { LessonContent } from './lesson-content.ts';
import { choiceIdOf } from './scoring.ts';
import { nearestName } from '../platform/nearest-name.ts';

/** More tell an author nothing new. */
const maxWarnings = 1_000;

/** Edits between two names up to which one is taken for a misspelling of the other. */
const nearDistance = 2;

/** What the Puck editor itself writes into props, and names that mark a prop as somebody's own. */
const foreignProp = /^(?:puck|editMode|readOnly|children|_.*|data-.*)$/;

/**
 * Returns what authors probably did not mean, with section, step and block, in reading order: right answers that are no
 * choice, questions without a right answer, choices without an id or with the same one, and props that the widget does
 * not know; of custom widgets, points that cannot be counted. The lesson plays all the same. Stops at 1,000.
 */
export function authoringWarnings(content: LessonContent): string[] {
  const warnings: string[] = [];
  const sections = new Map(content.sections.map((section, index) => [section, index]));
  const { overrides } = content.lesson.widget_settings;
  for (const [type, settings] of Object.entries(overrides)) {
    if (!isCoreWidget(type)) continue;
    const place = `The settings for all widgets of the type ${type}`;
    for (const fault of unknownProps(type, settings)) warnings.push(`${place}: ${fault}`);
  }
  for (const { block, section, step } of lessonBlocks(content)) {
    const type = typeOf(block);
    if (type === undefined) continue;
    const faults = isCoreWidget(type)
      ? unknownProps(type, block.props)
      : pointsFaults(playedProps(block, overrides));
    if (type === 'MultipleChoice') faults.push(...questionFaults(playedProps(block, overrides)));
    if (faults.length === 0) continue;
    const place = [
      `Section ${(sections.get(section) ?? 0) + 1} (${quote(section.title)})`,
      `step ${section.steps.indexOf(step) + 1} (${quote(step.title)})`,
      `${type} ${quote(block.props.id)}`,
    ].join(', ');
    for (const fault of faults) warnings.push(`${place}: ${fault}`);
    if (warnings.length >= maxWarnings) return warnings.slice(0, maxWarnings);
  }
  return warnings;
}

function unknownProps(type: CoreWidgetType, props: unknown): string[] {
  const known = [...Object.keys(coreWidgetProps[type]), ...commonProps];
  return Object.keys(recordOf(props))
    .filter((name) => !known.includes(name) && !foreignProp.test(name))
    .map((name) => {
      const nearest = nearestName(name, known, (prop) => Math.min(nearDistance, prop.length - 1));
      return `unknown prop ${quote(name)}${nearest === null ? '' : `; did you mean "${nearest}"?`}`;
    });
}

function pointsFaults(props: Record<string, unknown>): string[] {
  const fault = pointsFault(props);
  return fault === undefined ? [] : [fault];
}

/** What no learner could answer right. */
function questionFaults(props: Record<string, unknown>): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  for (const [index, choice] of listOf(props.choices).entries()) {
    const id = choiceIdOf(recordOf(choice).id);
    if (id === undefined) faults.push(`choice ${index + 1} has no id, so learners cannot pick it`);
    else if (ids.has(id))
      faults.push(`choice ${index + 1} has the id ${quote(id)} of an earlier choice, and is left out`);
    else ids.add(id);
  }
  const { correct } = props;
  if (correct !== undefined && correct !== null && !Array.isArray(correct)) {
    return [...faults, `correct must be a list of choice ids, such as ["a"]`];
  }
  const right = listOf(correct);
  for (const answer of right) {
    const id = choiceIdOf(answer);
    if (id !== undefined && ids.has(id)) continue;
    const shown = quote(id ?? JSON.stringify(answer));
    faults.push(`the right answer ${shown} is not among its choices (${some([...ids])})`);
  }
  if (right.length === 0 && props.points !== 0) {
    faults.push('has no right answer, so it is not scored; set points to 0 if that is meant');
  }
  return faults;
}

function some(ids: string[]): string {
  const shown = ids.slice(0, 10).map((id) => quote(id, 40));
  return `${shown.join(', ')}${ids.length > 10 ? ', …' : ''}`;
}
