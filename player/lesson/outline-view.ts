import { element, icon } from '../dom.ts';
import type { LessonProgress } from './lesson-progress.ts';
import { moveFocusByKeys } from './outline-keys.ts';
import { outlineSearch } from './outline-search.ts';
import type { PlayedLesson, PlayedSection, PlayedStep } from './read-lesson.ts';
import { stepList } from './step-list.ts';
import type { StepList } from './step-list.ts';
import { stepMarks } from './question-results.ts';
import type { StepMark } from './question-results.ts';
import { message } from '../../shared/i18n/message.ts';

/** In longer lessons, only the current section is unfolded at first, and a field searches the steps. */
const maxUnfoldedSteps = 30;

/** The current entry keeps this distance from the edges of the outline. */
const edgePixels = 48;

/** The list of sections and steps. */
export interface OutlineView {
  nav: HTMLElement;
  /** Marks the current step, and what the learner has done in each. */
  show(progress: LessonProgress): void;
}

interface Fold {
  section: PlayedSection;
  details: HTMLDetailsElement;
  count: HTMLElement;
}

/** @param go called with the index of the step that the learner selects */
export function outlineView(
  lesson: PlayedLesson,
  language: string,
  go: (index: number) => void,
): OutlineView {
  const lists = new Map<PlayedSection, StepList>();
  const folds: Fold[] = [];
  const isLong = lesson.steps.length > maxUnfoldedSteps;
  /** The section of the current step. */
  let current: Fold | undefined;
  /** The section that was unfolded because the learner arrived there. */
  let unfolded: Fold | undefined;
  let shown: { progress: LessonProgress; marks: readonly StepMark[] } | undefined;

  function listOf(steps: readonly PlayedStep[]): StepList {
    const made = stepList(steps, lesson, language, go);
    if (shown) made.mark(shown.progress, shown.marks);
    return made;
  }

  /** Fills a section while it is unfolded: a book would need thousands of nodes otherwise. */
  function fill({ section, details }: Fold): void {
    if (lists.has(section)) return;
    const made = listOf(section.steps);
    lists.set(section, made);
    details.append(made.list);
  }

  function empty({ section }: Fold): void {
    lists.get(section)?.list.remove();
    lists.delete(section);
  }

  /** Unfolds the section of the current step. Folds the one before if it is finished, or was unfolded here. */
  function arrive(fold: Fold, isFinished: (fold: Fold) => boolean): void {
    fill(fold);
    const left = current;
    current = fold;
    if (left === fold) return;
    for (const other of left ? [left] : folds) {
      if (other !== fold && (other === unfolded || isFinished(other))) other.details.open = false;
    }
    unfolded = fold.details.open ? undefined : fold;
    fold.details.open = true;
  }

  /** Scrolls the outline, and nothing around it, until the current entry is in view. */
  function revealCurrent(): void {
    const entry = nav.querySelector('[aria-current]')?.getBoundingClientRect();
    const scroller = nav.parentElement;
    const view = scroller?.getBoundingClientRect();
    if (!entry?.height || !scroller || !view) return;
    if (entry.top < view.top + edgePixels || entry.bottom > view.bottom - edgePixels) {
      scroller.scrollTop += entry.top - view.top - (view.height - entry.height) / 2;
    }
  }

  const contents = element('div', {});
  const nav = element('nav', {
    class: 'lectern-outline',
    'aria-label': message(language, 'lesson.contents'),
  });
  const search = isLong ? outlineSearch(lesson, language, contents, listOf) : undefined;
  if (search) nav.append(search.root);
  nav.append(contents);
  moveFocusByKeys(nav);

  for (const section of lesson.sections) {
    if (section.steps.length === 0) continue;
    if (!section.title) {
      const made = listOf(section.steps);
      lists.set(section, made);
      contents.append(made.list);
      continue;
    }
    const count = element('span', { class: 'lectern-outline-count' });
    const details = element(
      'details',
      { class: 'lectern-outline-section', open: !isLong },
      element('summary', {}, icon('unfold'), element('span', {}, section.title), count),
    );
    const fold = { section, details, count };
    folds.push(fold);
    if (!isLong) fill(fold);
    // Before the section unfolds, because its toggle event comes later, and the next key may come earlier.
    details.firstElementChild?.addEventListener('click', () => fill(fold));
    details.addEventListener('toggle', () => {
      if (details.open) fill(fold);
      else if (isLong) empty(fold);
    });
    contents.append(details);
  }

  return {
    nav,
    show(progress) {
      const marks = stepMarks(lesson, progress);
      shown = { progress, marks };
      const seenIn = ({ section }: Fold) =>
        section.steps.filter(({ index }) => marks[index] !== 'unseen').length;
      for (const fold of folds) {
        const steps = fold.section.steps.length;
        fold.count.textContent = message(language, 'lesson.sectionProgress', { seen: seenIn(fold), steps });
        if (fold.section.steps.some((step) => step.index === progress.index)) {
          arrive(fold, (other) => seenIn(other) === other.section.steps.length);
        }
      }
      for (const { mark } of [...lists.values(), ...(search?.results() ?? [])]) mark(progress, marks);
      requestAnimationFrame(revealCurrent);
    },
  };
}
