import { playedProps, pointsFault } from './block-props.ts';
import { placeOfBlock } from './block-names.ts';
import type { BlockPlace } from './block-names.ts';
import { lessonBlocks, memberPath, typeOf } from './blocks.ts';
import type { LessonBlockVisit } from './blocks.ts';
import { commonProps, coreWidgetFields, foreignProp } from './core-widget-fields.ts';
import { isCoreWidget } from './core-widgets.ts';
import { isRecord, quote } from './json-values.ts';
import type { Block, LessonContent } from './lesson-content.ts';
import { questionFaults } from './question-faults.ts';
import { memberFields } from './widget-fields.ts';
import type { Field, Fields } from './widget-fields.ts';
import { nearestName } from '../platform/unknown-names.ts';

/** What every custom widget has, whatever fields it publishes. */
const fieldsOfCustomWidgets: Fields = { points: { kind: 'number', label: 'Points' } };

/** More warnings would not help an author. */
const maxWarnings = 1_000;

/** The maximum edit distance between a name and its misspelling. */
const maxMisspellingEdits = 2;

/** A probable mistake of an author. */
export interface AuthoringWarning {
  /** A sentence that names the place. */
  message: string;
  /** Null for settings of the lesson. */
  place: BlockPlace | null;
}

/**
 * Returns an author's probable mistakes in reading order, with section, step and block. A lesson with mistakes plays:
 *
 * - props that a widget does not know, at any depth, including those in the settings for all widgets of a type; those of
 *   a custom widget only if it publishes its fields
 * - questions that no learner can answer correctly, and choices without an id or with an earlier choice's id
 * - points of custom widgets that cannot be counted
 *
 * Stops at 1,000 warnings.
 */
export function authoringWarnings(content: LessonContent): AuthoringWarning[] {
  const warnings: AuthoringWarning[] = [];
  for (const warning of findWarnings(content)) {
    warnings.push(warning);
    if (warnings.length === maxWarnings) break;
  }
  return warnings;
}

function* findWarnings(content: LessonContent): Generator<AuthoringWarning> {
  const placeOf = blockPlaces(content);
  const { overrides } = content.lesson.widget_settings;
  for (const [type, settings] of Object.entries(overrides)) {
    const place = `The settings for all widgets of the type ${type}`;
    for (const fault of unknownProps(fieldsOf(type, content), settings))
      yield { message: `${place}: ${fault}`, place: null };
  }
  for (const visit of lessonBlocks(content)) {
    const type = typeOf(visit.block);
    if (type === undefined) continue;
    for (const fault of blockFaults(type, visit.block, content))
      yield { message: `${placeOf(visit)}: ${fault}`, place: placeOfBlock(visit) };
  }
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

/** Yields an author's probable mistakes in a block, as sentences without its place. */
export function* blockFaults(type: string, block: Block, content: LessonContent): Generator<string> {
  yield* unknownProps(fieldsOf(type, content), block.props);
  const played = playedProps(block, content.lesson.widget_settings.overrides);
  if (isCoreWidget(type)) yield* questionFaults[type]?.(played) ?? [];
  else {
    const fault = pointsFault(played);
    if (fault !== undefined) yield fault;
  }
}

/** Returns the fields of a widget; undefined for a custom one that publishes none. */
function fieldsOf(type: string, { lesson }: LessonContent): Fields | undefined {
  if (isCoreWidget(type)) return coreWidgetFields[type];
  const { fields = {} } = lesson.widget_settings;
  return Object.hasOwn(fields, type) ? { ...fields[type], ...fieldsOfCustomWidgets } : undefined;
}

/** Yields the props that no field defines, also inside the values of others. */
function* unknownProps(fields: Fields | undefined, props: unknown, path = ''): Generator<string> {
  if (fields === undefined || !isRecord(props)) return;
  const known = [...Object.keys(fields), ...(path === '' ? commonProps : [])];
  for (const [name, value] of Object.entries(props)) {
    const place = path === '' ? name : memberPath(path, name);
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field !== undefined) yield* unknownMembers(field, value, place);
    else if (!known.includes(name) && !foreignProp.test(name)) {
      const nearest = nearestName(name, known, (prop) => Math.min(maxMisspellingEdits, prop.length - 1));
      yield `unknown prop ${quote(place)}${nearest === null ? '' : `; did you mean "${nearest}"?`}`;
    }
  }
}

function* unknownMembers(field: Field, value: unknown, path: string): Generator<string> {
  const fields = memberFields(field);
  if (fields === undefined) return;
  if (field.kind === 'object') yield* unknownProps(fields, value, path);
  else if (Array.isArray(value))
    for (const [index, entry] of value.entries()) yield* unknownProps(fields, entry, `${path}[${index}]`);
}
