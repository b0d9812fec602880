import { assertJsonDepth } from '../../shared/lessons/json-values.ts';
import type { Block, LessonContent, Section, Step } from '../../shared/lessons/lesson-content.ts';
import { orderedSections } from '../../shared/lessons/totals.ts';
import { outlineOf, widgetKey } from '../../shared/progress/outline.ts';
import type { LessonOutline, OutlineWidget } from '../../shared/progress/outline.ts';
import { record } from '../props.ts';

/** A lesson as the player uses it: checked and in playing order. */
export interface PlayedLesson {
  id: string;
  title: string;
  /** Undefined if the lesson states none. */
  language: string | undefined;
  /** Names and initial values of the lesson's variables. */
  variables: Readonly<Record<string, unknown>>;
  /** Default props by widget type, unchecked. */
  overrides: Record<string, unknown>;
  sections: PlayedSection[];
  /** The steps of all sections, one after the other. */
  steps: PlayedStep[];
  /** The input of the scoring rules. */
  outline: LessonOutline;
  /** The widgets of the outline by {@link widgetKey}. */
  widgets: ReadonlyMap<string, OutlineWidget>;
}

export interface PlayedSection {
  title: string;
  steps: PlayedStep[];
}

export interface PlayedStep {
  id: string;
  title: string;
  /** The position, from zero: of the section, and of the step in its section. */
  sectionIndex: number;
  stepIndex: number;
  /** The position among all steps, from zero. */
  index: number;
  content: Step['content'];
}

/**
 * Reads a lesson from player data or lesson.json. It skips missing and invalid parts, so that the rest can be played.
 *
 * @throws an Error whose message says why the value is not a lesson
 */
export function readLesson(value: unknown): PlayedLesson {
  assertJsonDepth(value);
  const given = record(value);
  // In the response of player-data, the lesson is the field `lesson`.
  const { lesson, sections } = Array.isArray(given.sections) ? given : record(given.lesson);
  if (!Array.isArray(sections)) throw new Error('A lesson is an object with "lesson" and "sections"');
  const content = readContent(record(lesson), sections);
  const played = playedSections(content);
  const outline = outlineOf(content);
  return {
    id: content.lesson.id,
    title: content.lesson.title,
    language: string(record(lesson).language) || undefined,
    variables: Object.fromEntries(
      content.lesson.variable_definitions.map(({ name, initialValue = null }) => [name, initialValue]),
    ),
    overrides: content.lesson.widget_settings.overrides,
    sections: played,
    steps: played.flatMap(({ steps }) => steps),
    outline,
    widgets: new Map(
      outline.sections.flatMap(({ steps }) =>
        steps.flatMap((step) =>
          step.widgets.map((widget) => [widgetKey(step.id, widget.widgetId), widget] as const),
        ),
      ),
    ),
  };
}

function playedSections(content: LessonContent): PlayedSection[] {
  let index = 0;
  return orderedSections(content).map((section, sectionIndex) => ({
    title: section.title,
    steps: section.steps.map((step, stepIndex) => ({
      id: step.id,
      title: step.title,
      sectionIndex,
      stepIndex,
      index: index++,
      content: step.content,
    })),
  }));
}

function readContent(meta: Record<string, unknown>, sections: unknown[]): LessonContent {
  return {
    lesson: {
      id: string(meta.id),
      slug: string(meta.slug),
      title: string(meta.title),
      status: string(meta.status),
      variable_definitions: list(meta.variable_definitions).flatMap((entry) => {
        const { name, type, initialValue } = record(entry);
        return typeof name === 'string' ? { name, type: string(type), initialValue } : [];
      }),
      widget_settings: { overrides: record(record(meta.widget_settings).overrides) },
    },
    sections: sections.map(readSection),
    totalSections: 0,
    totalSteps: 0,
  };
}

function readSection(entry: unknown, position: number): Section {
  const { id, title, order_index, steps } = record(entry);
  return {
    id: string(id),
    title: string(title),
    order_index: order(order_index, position),
    steps: list(steps).map((step, stepPosition) => readStep(step, stepPosition, position)),
  };
}

/** Reads a step. A step without an id gets one made of its position, so that ids differ. */
function readStep(entry: unknown, position: number, section: number): Step {
  const { id, title, order_index, content } = record(entry);
  const { content: blocks, root, zones } = record(content);
  return {
    id: string(id) || `${section}.${position}`,
    title: string(title),
    order_index: order(order_index, position),
    content: {
      content: list(blocks).map(readBlock),
      root: record(root),
      zones: Object.fromEntries(
        Object.entries(record(zones)).map(([name, zone]) => [name, list(zone).map(readBlock)]),
      ),
    },
  };
}

function readBlock(entry: unknown): Block {
  const { type, props } = record(entry);
  return { type: string(type), props: record(props) as Block['props'] };
}

function order(value: unknown, position: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : position;
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
