import { message } from '../../shared/i18n/message.ts';
import { element } from '../dom.ts';
import { confirmDialog } from './confirm-dialog.ts';
import { percentText } from './end-view.ts';
import type { EndActions } from './end-view.ts';
import { questionLink } from './question-link.ts';
import type { StepResults } from './question-results.ts';
import type { PlayedLesson } from './read-lesson.ts';
import type { Variables } from './visibility.ts';

/** The facts that the dialog shows before the lesson is finished. */
export interface BeforeFinish {
  /** The unanswered questions. */
  open: readonly StepResults[];
  /** Values for their texts. */
  variables: Variables;
  /** The exact grade that the course gets, from 0 to 1; null if it gets none. */
  grade: number | null;
}

/**
 * Asks before the lesson is finished. The dialog links to unanswered questions and shows the grade that the course will
 * get.
 */
export function askFinish(
  parent: HTMLElement,
  lesson: PlayedLesson,
  language: string,
  { open: openQuestions, grade, variables }: BeforeFinish,
  actions: { finish(this: void): void } & Pick<EndActions, 'goToIndex'>,
): void {
  // The list of open questions follows the last sentence.
  const notes = [
    grade === null ? '' : message(language, 'lesson.finishGrade', { percent: percentText(grade, language) }),
    openQuestions.length > 0 ? message(language, 'lesson.finishOpen') : '',
  ];
  const links = openQuestions.flatMap(({ step, questions }) =>
    questions.map((question) => {
      const link = questionLink({ lesson, variables, language }, step, question, () => {
        dialog.close();
        actions.goToIndex(step.index, question.widgetId);
      });
      return element('li', {}, link);
    }),
  );
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
