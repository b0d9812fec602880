import { intlLocale, message } from '../../shared/i18n/message.ts';
import { element } from '../dom.ts';
import { confirmDialog } from './confirm-dialog.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import { stepTitle } from './step-list.ts';

/** What the learner should know before the lesson is finished. */
export interface BeforeFinish {
  /** The steps with unanswered questions. */
  openSteps: readonly PlayedStep[];
  /** The grade that the course gets, from 0 to 1; null if it gets none. */
  grade: number | null;
}

/** Asks before the lesson is finished: lists what is unanswered, with links, and says what the course gets. */
export function askFinish(
  parent: HTMLElement,
  lesson: PlayedLesson,
  language: string,
  { openSteps, grade }: BeforeFinish,
  actions: { finish(this: void): void; goToIndex(this: void, index: number): void },
): void {
  const percent = (share: number) =>
    share.toLocaleString(intlLocale(language), { style: 'percent', maximumFractionDigits: 0 });
  // The list of open questions follows the last sentence.
  const notes = [
    grade === null ? '' : message(language, 'lesson.finishGrade', { percent: percent(grade) }),
    openSteps.length > 0 ? message(language, 'lesson.finishOpen') : '',
  ];
  const links = openSteps.map((step) => {
    const link = element(
      'button',
      { class: 'lectern-link', type: 'button' },
      stepTitle(step, lesson, language),
    );
    link.addEventListener('click', () => {
      dialog.close();
      actions.goToIndex(step.index);
    });
    return element('li', {}, link);
  });
  const { dialog, open } = confirmDialog(
    {
      title: message(language, 'lesson.finishAsk'),
      note: notes.filter(Boolean).join(' '),
      confirm: message(language, 'lesson.finish'),
      cancel: message(language, 'lesson.keepWorking'),
      ...(links.length > 0 && { details: element('ul', { class: 'lectern-open-steps' }, ...links) }),
    },
    actions.finish,
  );
  dialog.addEventListener('close', () => dialog.remove());
  parent.append(dialog);
  open();
}
