import { element } from '../dom.ts';
import { confirmDialog } from './confirm-dialog.ts';
import { pointsOf, questionsOf } from './lesson-progress.ts';
import type { LessonProgress } from './lesson-progress.ts';
import { stepTitle } from './step-list.ts';
import type { PlayedLesson } from './read-lesson.ts';
import { message } from '../../shared/i18n/message.ts';

/** The actions on the page after the last step. */
export interface EndActions {
  goToIndex(this: void, index: number): void;
  back(this: void): void;
  restart(this: void): void;
}

/** Makes the page after the last step, below its heading: the result, open questions, and starting again. */
export function endView(
  lesson: PlayedLesson,
  progress: LessonProgress,
  language: string,
  actions: EndActions,
): HTMLElement {
  const page = element(
    'div',
    { class: 'lectern-end' },
    element('p', {}, message(language, 'lesson.completeNote')),
  );

  const { score, maxScore } = pointsOf(lesson, progress);
  const { total, answered, openSteps } = questionsOf(lesson, progress);
  const result = element('div', { class: 'lectern-result' });
  if (maxScore !== null) {
    const points = score ?? 0;
    const meter = element('div', { class: 'lectern-meter', 'aria-hidden': 'true' }, element('span'));
    (meter.firstElementChild as HTMLElement).style.inlineSize =
      `${maxScore > 0 ? (points / maxScore) * 100 : 0}%`;
    const text = message(language, 'widget.score', { score: points, maxScore });
    result.append(element('p', { class: 'lectern-score' }, text), meter);
  }
  if (total > 0) result.append(element('p', {}, message(language, 'lesson.answered', { answered, total })));
  if (result.hasChildNodes()) page.append(result);

  if (openSteps.length > 0) {
    const list = element('ul', { class: 'lectern-open-steps' });
    for (const step of openSteps) {
      const link = element(
        'button',
        { class: 'lectern-link', type: 'button' },
        stepTitle(step, lesson, language),
      );
      link.addEventListener('click', () => actions.goToIndex(step.index));
      list.append(element('li', {}, link));
    }
    page.append(
      element('h2', { class: 'lectern-end-heading' }, message(language, 'lesson.unanswered')),
      list,
    );
  }

  const back = element(
    'button',
    { class: 'lectern-button lectern-is-quiet', type: 'button' },
    message(language, 'lesson.backToLesson'),
  );
  back.addEventListener('click', () => actions.back());
  const again = element(
    'button',
    { class: 'lectern-button lectern-is-quiet', type: 'button' },
    message(language, 'lesson.startAgain'),
  );
  const dialog = confirmDialog(
    {
      title: message(language, 'lesson.startAgainAsk'),
      note: message(language, 'lesson.startAgainNote'),
      confirm: message(language, 'lesson.startAgain'),
      cancel: message(language, 'lesson.cancel'),
    },
    () => actions.restart(),
  );
  again.addEventListener('click', () => dialog.showModal());
  page.append(element('div', { class: 'lectern-actions' }, back, again), dialog);
  return page;
}
