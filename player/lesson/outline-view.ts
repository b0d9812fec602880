import { element, icon } from '../dom.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { PlayedLesson, PlayedSection, PlayedStep } from './read-lesson.ts';
import { message } from '../../shared/i18n/message.ts';

/** In longer lessons, only the learner's current section is unfolded. */
const maxUnfoldedSteps = 30;

/** The list of sections and steps. */
export interface OutlineView {
  nav: HTMLElement;
  /** Marks the current step and the seen ones. */
  show(progress: LessonProgress): void;
}

interface Entry {
  step: PlayedStep;
  button: HTMLButtonElement;
  seen: HTMLElement;
}

/** @param go called with the index of the step that the learner selects */
export function outlineView(
  lesson: PlayedLesson,
  language: string,
  go: (index: number) => void,
): OutlineView {
  const entries: Entry[] = [];
  const folds: { section: PlayedSection; fold: HTMLDetailsElement; count: HTMLElement }[] = [];

  function stepList({ steps }: PlayedSection): HTMLElement {
    const list = element('ol', { class: 'lectern-outline-steps' });
    for (const step of steps) {
      const seen = element('span', { class: 'lectern-hidden-text' });
      const button = element(
        'button',
        { class: 'lectern-outline-step', type: 'button' },
        element('span', { class: 'lectern-mark' }, icon('right')),
        element('span', {}, stepTitle(step, lesson, language), seen),
      );
      button.addEventListener('click', () => go(step.index));
      entries.push({ step, button, seen });
      list.append(element('li', {}, button));
    }
    return list;
  }

  const nav = element('nav', {
    class: 'lectern-outline',
    'aria-label': message(language, 'lesson.contents'),
  });
  for (const section of lesson.sections) {
    if (section.steps.length === 0) continue;
    const list = stepList(section);
    if (!section.title) {
      nav.append(list);
      continue;
    }
    const count = element('span', { class: 'lectern-outline-count' });
    const fold = element(
      'details',
      { class: 'lectern-outline-section', open: lesson.steps.length <= maxUnfoldedSteps },
      element('summary', {}, icon('unfold'), element('span', {}, section.title), count),
      list,
    );
    folds.push({ section, fold, count });
    nav.append(fold);
  }

  return {
    nav,
    show({ index, atEnd, visited }) {
      const seenSteps = new Set(visited);
      for (const { step, button, seen } of entries) {
        const isCurrent = step.index === index && !atEnd;
        const isSeen = seenSteps.has(step.id) && !isCurrent;
        if (isCurrent) button.setAttribute('aria-current', 'step');
        else button.removeAttribute('aria-current');
        button.classList.toggle('lectern-is-seen', isSeen);
        seen.textContent = isSeen ? `, ${message(language, 'lesson.seen')}` : '';
      }
      for (const { section, fold, count } of folds) {
        const seen = section.steps.filter(({ id }) => seenSteps.has(id)).length;
        count.textContent = message(language, 'lesson.sectionProgress', {
          seen,
          steps: section.steps.length,
        });
        if (section.steps.some((step) => step.index === index)) fold.open = true;
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
