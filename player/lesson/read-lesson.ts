import { assertJsonDepth } from '../../shared/lessons/json-values.ts';
import type { OwnTypes } from '../../shared/lessons/core-widgets.ts';
import { coverOf } from '../../shared/lessons/cover.ts';
import type { LessonCover } from '../../shared/lessons/cover.ts';
import type { Block, LessonContent, Section, Step } from '../../shared/lessons/lesson-content.ts';
import type { PictureSize } from '../../shared/lessons/picture-size.ts';
import { orderedSections } from '../../shared/lessons/totals.ts';
import { outlineOf, widgetKey, widgetsByKey } from '../../shared/progress/outline.ts';
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
  /** Null for a lesson that begins with its first step. */
  cover: LessonCover | null;
  ownTypes: OwnTypes;
  /** The sizes of pictures that the blocks themselves do not say, by media id. */
  pictureSizes?: Readonly<Record<string, PictureSize>>;
  /** The credits of its media, unchecked. */
  attributions: unknown;
  sections: PlayedSection[];
  /** The steps of all sections, one after the other. */
  steps: PlayedStep[];
  /** The input of the scoring rules; the questions only while not all steps are loaded. */
  outline: LessonOutline;
  /** Returns a widget of the lesson; undefined if the lesson has none with this id, or its step is not loaded. */
  widgetOf(this: void, stepId: string, widgetId: string): OutlineWidget | undefined;
  /** Returns the content of a step; undefined if it is not loaded. */
  contentOf(this: void, step: PlayedStep): StepContent | undefined;
  /** Loads the step at an index; at once if it is loaded or there is none. Rejects if that fails. */
  load(this: void, index: number): Promise<void>;
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
}

export type StepContent = Step['content'];

/**
 * Reads a lesson from player data or lesson.json. It skips missing and invalid parts, so that the rest can be played.
 *
 * @throws an Error whose message says why the value is not a lesson
 */
export function readLesson(value: unknown, ownTypes: OwnTypes = []): PlayedLesson {
  assertJsonDepth(value);
  const given = record(value);
  // In the response of player-data, the lesson is the field `lesson`.
  const { lesson, sections, attributions } = Array.isArray(given.sections) ? given : record(given.lesson);
  if (!Array.isArray(sections)) throw new Error('A lesson is an object with "lesson" and "sections"');
  const content = readContent(record(lesson), sections);
  const ordered = orderedSections(content);
  const { sections: played, steps } = playedSections(ordered);
  const outline = outlineOf(content, ownTypes);
  const widgets = widgetsByKey(outline);
  const contents = ordered.flatMap((section) => section.steps.map((step) => step.content));
  return {
    id: content.lesson.id,
    title: content.lesson.title,
    language: string(record(lesson).language) || undefined,
    variables: initialValues(content.lesson.variable_definitions),
    overrides: content.lesson.widget_settings.overrides,
    cover: coverOf(content),
    ownTypes,
    attributions,
    sections: played,
    steps,
    outline,
    widgetOf: (stepId, widgetId) => widgets.get(widgetKey(stepId, widgetId)),
    contentOf: ({ index }) => contents[index],
    load: () => Promise.resolve(),
  };
}

/** Returns sections that are in playing order, and their steps, with their positions. */
export function playedSections(
  sections: readonly { title: string; steps: readonly Pick<Step, 'id' | 'title'>[] }[],
): Pick<PlayedLesson, 'sections' | 'steps'> {
  let index = 0;
  const played = sections.map(({ title, steps }, sectionIndex) => ({
    title,
    steps: steps.map((step, stepIndex) => ({
      id: step.id,
      title: step.title,
      sectionIndex,
      stepIndex,
      index: index++,
    })),
  }));
  return { sections: played, steps: played.flatMap(({ steps }) => steps) };
}

/** Returns the values that a lesson's variables begin with, by name. */
export function initialValues(
  definitions: LessonContent['lesson']['variable_definitions'],
): Record<string, unknown> {
  return Object.fromEntries(definitions.map(({ name, initialValue = null }) => [name, initialValue]));
}

function readContent(meta: Record<string, unknown>, sections: unknown[]): LessonContent {
  return {
    lesson: {
      id: string(meta.id),
      slug: string(meta.slug),
      title: string(meta.title),
      status: string(meta.status),
      cover: meta.cover,
      ...(typeof meta.estimatedDuration === 'number' && { estimatedDuration: meta.estimatedDuration }),
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
  return {
    id: string(id) || `${section}.${position}`,
    title: string(title),
    order_index: order(order_index, position),
    content: readStepContent(content),
  };
}

/** Reads the content of a step. It skips missing and invalid parts. */
export function readStepContent(given: unknown): StepContent {
  const { content, root, zones } = record(given);
  return {
    content: list(content).map(readBlock),
    root: record(root),
    zones: Object.fromEntries(
      Object.entries(record(zones)).map(([name, zone]) => [name, list(zone).map(readBlock)]),
    ),
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
