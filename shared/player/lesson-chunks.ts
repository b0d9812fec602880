import { createHash } from 'node:crypto';
import { coverOf } from '../lessons/cover.ts';
import { isOpenQuestion } from '../lessons/core-widgets.ts';
import type { OwnTypes } from '../lessons/core-widgets.ts';
import type { LessonContent, Section, Step } from '../lessons/lesson-content.ts';
import type {
  ChunkStep,
  LessonChunk,
  LessonSkeleton,
  SkeletonQuestion,
  SkeletonStep,
} from '../lessons/lesson-skeleton.ts';
import type { MediaAttribution } from '../lessons/player-lesson.ts';
import { orderedSections } from '../lessons/totals.ts';
import { scriptText } from '../platform/html.ts';
import { outlineOf, pointsOfWidget } from '../progress/outline.ts';
import type { OutlineWidget } from '../progress/outline.ts';

/**
 * The maximum length of a chunk's text, unless a single step is longer. Compressed, it is about the size of a picture.
 */
const maxChunkChars = 64 * 1024;

/** A chunk with its text. */
export interface ChunkText extends LessonChunk {
  /** JSON without `<`, so that it can be inside a script element. */
  text: string;
}

/**
 * Divides a lesson into a skeleton and chunks. A chunk never ends inside a section that would fit into the next one, so
 * learners rarely wait within a section.
 */
export function divideLesson(
  content: LessonContent,
  ownTypes: OwnTypes = [],
  attributions: readonly MediaAttribution[] = [],
): { skeleton: string; chunks: ChunkText[] } {
  const sections = orderedSections(content);
  const chunks = groupsOf(sections).map(chunkOf);
  return {
    skeleton: scriptText(JSON.stringify(skeletonOf({ content, ownTypes, attributions }, sections, chunks))),
    chunks,
  };
}

function skeletonOf(
  {
    content,
    ownTypes,
    attributions,
  }: { content: LessonContent; ownTypes: OwnTypes; attributions: readonly MediaAttribution[] },
  sections: readonly Section[],
  chunks: readonly LessonChunk[],
): LessonSkeleton {
  const { id, title, variable_definitions, widget_settings } = content.lesson;
  const outline = outlineOf(content, ownTypes);
  const cover = coverOf(content);
  return {
    lesson: { id, title, variable_definitions, widget_settings: { overrides: widget_settings.overrides } },
    ...(cover && { cover }),
    ...(ownTypes.length > 0 && { ownTypes }),
    ...(attributions.length > 0 && { attributions }),
    sections: sections.map((section, sectionIndex) => ({
      title: section.title,
      steps: section.steps.map((step, stepIndex) =>
        skeletonStep(step, outline.sections[sectionIndex]?.steps[stepIndex]?.widgets ?? []),
      ),
    })),
    chunks: chunks.map(({ id: chunkId, steps }) => ({ id: chunkId, steps })),
  };
}

function skeletonStep({ id, title }: Step, widgets: readonly OutlineWidget[]): SkeletonStep {
  const questions = widgets.flatMap((widget) => questionOf(widget) ?? []);
  return { id, title, ...(questions.length > 0 && { questions }) };
}

function questionOf(widget: OutlineWidget): SkeletonQuestion | null {
  const { widgetId, widgetType, isConditional } = widget;
  const points = pointsOfWidget(widget);
  if (points === null && !isOpenQuestion(widgetType)) return null;
  return {
    widgetId,
    widgetType,
    ...(points !== null && { points }),
    ...(isConditional && { isConditional: true }),
  };
}

/** Returns the texts of the steps of each chunk. */
function groupsOf(sections: readonly Section[]): string[][] {
  const groups: string[][] = [];
  let chars = Infinity;
  for (const { steps } of sections) {
    const texts = steps.map(({ id, content }) => stepText(id, content));
    const sectionChars = texts.reduce((sum, text) => sum + text.length, 0);
    // A section that fits into a chunk is not divided.
    if (sectionChars <= maxChunkChars && chars + sectionChars > maxChunkChars) chars = Infinity;
    for (const text of texts) {
      if (chars + text.length > maxChunkChars) {
        groups.push([]);
        chars = 0;
      }
      groups.at(-1)?.push(text);
      chars += text.length;
    }
  }
  return groups;
}

function stepText(id: string, { content, root, zones }: Step['content']): string {
  const step: ChunkStep = { id, content: { content, root, ...(zones && { zones }) } };
  return scriptText(JSON.stringify(step));
}

function chunkOf(steps: readonly string[]): ChunkText {
  const text = `[${steps.join(',')}]`;
  return { id: createHash('sha256').update(text).digest('base64url'), steps: steps.length, text };
}
