import { element, icon } from '../dom.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import type { StepMark } from './question-results.ts';
import { message } from '../../shared/i18n/message.ts';

const markTexts = {
  seen: 'lesson.seen',
  answered: 'lesson.markAnswered',
  right: 'lesson.markRight',
} as const;

/** A list of steps on the page. */
export interface StepList {
  list: HTMLElement;
  /** Marks the current step, and what the learner has done in each. */
  mark(this: void, progress: Pick<LessonProgress, 'index' | 'atEnd'>, marks: readonly StepMark[]): void;
}

/**
 * Makes a list of steps, unmarked.
 *
 * @param go called with the index of the step that the learner selects
 */
export function stepList(
  steps: readonly PlayedStep[],
  lesson: PlayedLesson,
  language: string,
  go: (index: number) => void,
): StepList {
  const list = element('ol', { class: 'lectern-outline-steps' });
  const entries = steps.map((step) => {
    const seen = element('span', { class: 'lectern-hidden-text' });
    const button = element(
      'button',
      { class: 'lectern-outline-step', type: 'button' },
      element('span', { class: 'lectern-mark' }, icon('right')),
      element('span', {}, stepTitle(step, lesson, language), seen),
    );
    button.addEventListener('click', () => go(step.index));
    list.append(element('li', {}, button));
    return { step, button, seen };
  });
  return {
    list,
    mark({ index, atEnd }, marks) {
      for (const { step, button, seen } of entries) {
        const isCurrent = step.index === index && !atEnd;
        const mark = marks[step.index] ?? 'unseen';
        if (isCurrent) button.setAttribute('aria-current', 'step');
        else button.removeAttribute('aria-current');
        button.dataset.mark = mark;
        const isSaid = mark !== 'unseen' && !(isCurrent && mark === 'seen');
        seen.textContent = isSaid ? `, ${message(language, markTexts[mark])}` : '';
      }
    },
  };
}

/** Returns a step's title or, if it has none, its position. */
export function stepTitle(step: PlayedStep, lesson: PlayedLesson, language: string): string {
  return step.title || stepPosition(step.index, lesson, language);
}

/** Returns a text such as "Step 3 of 9". */
export function stepPosition(index: number, lesson: PlayedLesson, language: string): string {
  return message(language, 'lesson.step', { step: index + 1, steps: lesson.steps.length });
}
