import { element, isComposing } from '../dom.ts';
import { message } from '../../shared/i18n/message.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import { stepTitle } from './step-list.ts';
import type { StepList } from './step-list.ts';

/** The number of listed results; more are counted only. */
const maxResults = 100;
/** The time without a keystroke after which screen readers announce the number of results. */
const announceMs = 500;

/** The field that searches the titles of steps and sections. */
export interface OutlineSearch {
  root: HTMLElement;
  /** Returns the list of results, if there is one. */
  results(this: void): StepList[];
}

/**
 * @param contents the outline, which is hidden while there are results
 * @param listOf makes a list of steps with their marks
 */
export function outlineSearch(
  lesson: PlayedLesson,
  language: string,
  contents: HTMLElement,
  listOf: (steps: readonly PlayedStep[]) => StepList,
): OutlineSearch {
  const label = message(language, 'lesson.search');
  const field = element('input', {
    class: 'lectern-outline-field',
    type: 'search',
    'aria-label': label,
    placeholder: label,
    autocomplete: 'off',
  });
  const status = element('p', { class: 'lectern-outline-found', role: 'status' });
  const root = element('div', { class: 'lectern-outline-search', role: 'search' }, field, status);
  const texts = lesson.sections.flatMap(({ title, steps }) =>
    steps.map((step) => ({ step, text: comparable(`${stepTitle(step, lesson, language)}\n${title}`) })),
  );
  let found: StepList | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function search(): void {
    const words = comparable(field.value).split(/\s+/).filter(Boolean);
    const matches = texts.filter(({ text }) => words.every((word) => text.includes(word)));
    found?.list.remove();
    found = words.length === 0 ? undefined : listOf(matches.slice(0, maxResults).map(({ step }) => step));
    contents.hidden = found !== undefined;
    clearTimeout(timer);
    if (found === undefined) {
      status.textContent = '';
      return;
    }
    root.append(found.list);
    timer = setTimeout(
      () => (status.textContent = message(language, 'lesson.found', { count: matches.length })),
      announceMs,
    );
  }

  field.addEventListener('input', search);
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || isComposing(event) || field.value === '') return;
    // Otherwise Escape also closes the drawer around the outline.
    event.preventDefault();
    field.value = '';
    search();
  });
  return { root, results: () => (found === undefined ? [] : [found]) };
}

/** Returns a text without case and accents. */
function comparable(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
}
