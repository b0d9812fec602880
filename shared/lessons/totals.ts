import type { LessonContent, Section, Step } from './lesson-content.ts';

const minutesPerStep = 2;

/** The number of sections and steps, counted: what lesson.json states is not relied on. */
export function totalsOf(content: Pick<LessonContent, 'sections'>): {
  totalSections: number;
  totalSteps: number;
} {
  return {
    totalSections: content.sections.length,
    totalSteps: content.sections.reduce((sum, section) => sum + section.steps.length, 0),
  };
}

/** How long a lesson takes, in minutes: its own figure, else 2 minutes a step. */
export function estimatedDuration(content: Pick<LessonContent, 'lesson' | 'sections'>): number {
  return content.lesson.estimatedDuration ?? totalsOf(content).totalSteps * minutesPerStep;
}

/**
 * The sections in the order they are played in, by order_index, and so are the steps in each; equal ones stay as
 * they stand. A position (currentSectionIndex, currentStepIndex) counts in this order. Nothing is changed in place.
 */
export function orderedSections(content: Pick<LessonContent, 'sections'>): Section[] {
  return inOrder(content.sections).map((section) => ({ ...section, steps: inOrder<Step>(section.steps) }));
}

function inOrder<T extends { order_index: number }>(items: T[]): T[] {
  return items.toSorted((a, b) => a.order_index - b.order_index);
}
