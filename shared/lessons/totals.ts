import type { LessonContent, Section, Step } from './lesson-content.ts';

const minutesPerStep = 2;

/** Counts sections and steps: the totals that lesson.json states may be wrong. */
export function totalsOf(content: Pick<LessonContent, 'sections'>): {
  totalSections: number;
  totalSteps: number;
} {
  return {
    totalSections: content.sections.length,
    totalSteps: content.sections.reduce((sum, section) => sum + section.steps.length, 0),
  };
}

/** Returns the duration of a lesson in minutes: the author's estimate, else 2 minutes for each step. */
export function estimatedDuration(content: Pick<LessonContent, 'lesson' | 'sections'>): number {
  return content.lesson.estimatedDuration ?? totalsOf(content).totalSteps * minutesPerStep;
}

/**
 * Returns copies of the sections in playing order, by order_index, and of the steps in each; ties keep their order.
 * Step positions (currentSectionIndex, currentStepIndex) refer to this order.
 */
export function orderedSections(content: Pick<LessonContent, 'sections'>): Section[] {
  return inOrder(content.sections).map((section) => ({ ...section, steps: inOrder<Step>(section.steps) }));
}

function inOrder<T extends { order_index: number }>(items: T[]): T[] {
  return [...items].sort((a, b) => a.order_index - b.order_index);
}
