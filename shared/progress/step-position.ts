import type { LessonOutline } from './outline.ts';
import type { ProgressState } from './state.ts';

/** Where a learner is in a version. */
export type Place = Pick<ProgressState, 'sectionIndex' | 'stepIndex' | 'stepId'>;

/** Every step of a version in playing order. */
export function placesOf(outline: LessonOutline): Place[] {
  return outline.sections.flatMap(({ steps }, sectionIndex) =>
    steps.map(({ id }, stepIndex) => ({ sectionIndex, stepIndex, stepId: id })),
  );
}

/** The first step; position 0/0 in a version without steps. */
export function firstPlace(outline: LessonOutline): Place {
  return placesOf(outline)[0] ?? { sectionIndex: 0, stepIndex: 0, stepId: null };
}
