import { element } from '../dom.ts';
import { fill } from '../words.ts';
import { confirmDialog } from './confirm-dialog.ts';
import { pointsOf, questionsOf } from './lesson-progress.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { LessonWords } from './lesson-words.ts';
import { stepTitle } from './outline-view.ts';
import type { PlayedLesson } from './read-lesson.ts';

/** What the page after the last step can do. */
export interface EndActions {
  goToIndex(this: void, index: number): void;
  back(this: void): void;
  restart(this: void): void;
}

/** What follows the heading of the page after the last step: the result, what is left to do, and starting again. */
export function endView(
  lesson: PlayedLesson,
  progress: LessonProgress,
  words: LessonWords,
  language: string,
  actions: EndActions,
): HTMLElement {
  const page = element('div', { class: 'lectern-end' }, element('p', {}, words.completeNote));

  const { score, maxScore } = pointsOf(lesson, progress);
  const { total, answered, openSteps } = questionsOf(lesson, progress);
  const result = element('div', { class: 'lectern-result' });
  if (maxScore !== null) {
    const points = score ?? 0;
    const meter = element('div', { class: 'lectern-meter', 'aria-hidden': 'true' }, element('span'));
    (meter.firstElementChild as HTMLElement).style.inlineSize =
      `${maxScore > 0 ? (points / maxScore) * 100 : 0}%`;
    const told = fill(words.points, { score: points, maxScore }, language);
    result.append(element('p', { class: 'lectern-score' }, told), meter);
  }
  if (total > 0) result.append(element('p', {}, fill(words.answered, { answered, total }, language)));
  if (result.hasChildNodes()) page.append(result);

  if (openSteps.length > 0) {
    const list = element('ul', { class: 'lectern-open-steps' });
    for (const step of openSteps) {
      const link = element(
        'button',
        { class: 'lectern-link', type: 'button' },
        stepTitle(step, lesson, words, language),
      );
      link.addEventListener('click', () => actions.goToIndex(step.index));
      list.append(element('li', {}, link));
    }
    page.append(element('h2', { class: 'lectern-end-heading' }, words.unanswered), list);
  }

  const back = element(
    'button',
    { class: 'lectern-button lectern-is-quiet', type: 'button' },
    words.backToLesson,
  );
  back.addEventListener('click', () => actions.back());
  const again = element(
    'button',
    { class: 'lectern-button lectern-is-quiet', type: 'button' },
    words.startAgain,
  );
  const dialog = confirmDialog(
    {
      title: words.startAgainAsk,
      note: words.startAgainNote,
      confirm: words.startAgain,
      cancel: words.cancel,
    },
    () => actions.restart(),
  );
  again.addEventListener('click', () => dialog.showModal());
  page.append(element('div', { class: 'lectern-actions' }, back, again), dialog);
  return page;
}
