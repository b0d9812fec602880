import { element, icon } from '../dom.ts';
import type { LessonProgress } from './lesson-progress.ts';
import { moveFocusByKeys } from './outline-keys.ts';
import { outlineSearch } from './outline-search.ts';
import type { PlayedLesson, PlayedSection, PlayedStep } from './read-lesson.ts';
import { stepList } from './step-list.ts';
import type { StepList } from './step-list.ts';
import { message } from '../../shared/i18n/message.ts';

/** In longer lessons, only the learner's current section is unfolded, and a field searches the steps. */
const maxUnfoldedSteps = 30;

/** The list of sections and steps. */
export interface OutlineView {
  nav: HTMLElement;
  /** Marks the current step and the seen ones. */
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
  let unfolded: Fold | undefined;
  let shown: { progress: LessonProgress; seenSteps: ReadonlySet<string> } | undefined;

  function listOf(steps: readonly PlayedStep[]): StepList {
    const made = stepList(steps, lesson, language, go);
    if (shown) made.mark(shown.progress, shown.seenSteps);
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

  /** Unfolds the section of the current step, and folds the one that this function unfolded before. */
  function unfold(fold: Fold): void {
    fill(fold);
    if (fold.details.open) return;
    fold.details.open = true;
    if (unfolded && isLong) unfolded.details.open = false;
    unfolded = fold;
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
      const seenSteps = new Set(progress.visited);
      shown = { progress, seenSteps };
      for (const fold of folds) {
        const { section, count } = fold;
        const seen = section.steps.filter(({ id }) => seenSteps.has(id)).length;
        count.textContent = message(language, 'lesson.sectionProgress', {
          seen,
          steps: section.steps.length,
        });
        if (section.steps.some((step) => step.index === progress.index)) unfold(fold);
      }
      for (const { mark } of [...lists.values(), ...(search?.results() ?? [])]) mark(progress, seenSteps);
    },
  };
}
