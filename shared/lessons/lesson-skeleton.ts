import type { OwnTypes } from './core-widgets.ts';
import type { LessonCover } from './cover.ts';
import type { MediaAttribution } from './player-lesson.ts';
import type { LessonMeta, StepContent } from './lesson-content.ts';

/**
 * A lesson without the content of its steps, in playing order. The embed page contains it, and loads the content in
 * chunks.
 */
export interface LessonSkeleton {
  lesson: Pick<LessonMeta, 'id' | 'title' | 'variable_definitions' | 'widget_settings'>;
  /** Missing for a lesson that begins with its first step. */
  cover?: LessonCover;
  /** Missing if there are none. */
  ownTypes?: OwnTypes;
  /** The credits of its media; missing if there are none. */
  attributions?: readonly MediaAttribution[];
  sections: SkeletonSection[];
  /** The chunks that together contain all steps. */
  chunks: LessonChunk[];
}

export interface SkeletonSection {
  title: string;
  steps: SkeletonStep[];
}

export interface SkeletonStep {
  /** Unique in the lesson. */
  id: string;
  title: string;
  /** The step's questions, in reading order; missing if it has none. */
  questions?: SkeletonQuestion[];
}

/** A widget that counts toward the points of the lesson, or asks a question without points. */
export interface SkeletonQuestion {
  widgetId: string;
  widgetType: string;
  /** Missing for a question that earns no points. */
  points?: number;
  /** Whether a condition may hide it; missing if none may. */
  isConditional?: true;
}

/** Consecutive steps that are loaded together. Its text is the JSON of their {@link ChunkStep}s. */
export interface LessonChunk {
  /** The SHA-256 of its text, in base64url. */
  id: string;
  /** The number of its steps. */
  steps: number;
}

export interface ChunkStep {
  id: string;
  content: Pick<StepContent, 'content' | 'root' | 'zones'>;
}

/** Returns the index of the chunk that contains a step; undefined for a step that the lesson lacks. */
export function chunkOfStep(chunks: readonly LessonChunk[], stepIndex: number): number | undefined {
  if (stepIndex < 0) return undefined;
  let end = 0;
  for (const [index, { steps }] of chunks.entries()) {
    end += steps;
    if (stepIndex < end) return index;
  }
  return undefined;
}
