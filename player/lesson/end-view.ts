import { intlLocale, message } from '../../shared/i18n/message.ts';
import { finalShare, shownShare } from '../../shared/progress/points.ts';
import { element, icon } from '../dom.ts';
import { confirmDialog } from './confirm-dialog.ts';
import { pointsOf } from './lesson-progress.ts';
import type { LessonProgress } from './lesson-progress.ts';
import { isMistake, resultsOf } from './question-results.ts';
import type { Result, StepResults } from './question-results.ts';
import type { PlayedLesson } from './read-lesson.ts';
import { questionLink } from './question-link.ts';

/** The actions on the page after the last step. */
export interface EndActions {
  /** Goes to a step, or to one of its questions. */
  goToIndex(this: void, index: number, widgetId?: string): void;
  back(this: void): void;
  restart(this: void): void;
  /** Goes through the steps with mistakes. */
  review(this: void): void;
  /** Returns to the course; undefined without one. */
  leave: ((this: void) => void) | undefined;
}

const icons = { right: 'right', partly: 'partly', wrong: 'wrong', answered: 'right', open: 'open' } as const;

/** Makes the page after the last step, below its heading: the result, each question, and the next actions. */
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
  const results = resultsOf(lesson, progress);
  const all = results.flatMap(({ questions }) => questions);
  const points = pointsOf(lesson, progress);
  if (all.length > 0) {
    const answered = all.filter(({ result }) => result !== 'open').length;
    const texts = element('div', {});
    const box = element('div', { class: 'lectern-result' }, texts);
    const { score, maxScore } = points;
    if (maxScore !== null) {
      box.prepend(ring(finalShare(points), language));
      const text = message(language, 'widget.score', { score: score ?? 0, maxScore });
      texts.append(element('p', { class: 'lectern-score' }, text));
    }
    texts.append(element('p', {}, message(language, 'lesson.answered', { answered, total: all.length })));
    page.append(box);
  }

  const back = button('lesson.backToLesson', () => actions.back());
  const again = button('lesson.startAgain', () => open());
  const { dialog, open } = confirmDialog(
    {
      title: message(language, 'lesson.startAgainAsk'),
      note: message(language, 'lesson.startAgainNote'),
      confirm: message(language, 'lesson.startAgain'),
      cancel: message(language, 'lesson.cancel'),
    },
    () => actions.restart(),
  );
  const buttons = [back, again];
  if (all.some(isMistake)) buttons.unshift(button('lesson.review', () => actions.review()));
  if (actions.leave) buttons.unshift(button('lesson.leave', actions.leave));
  // One action stands out: back to the course, else the mistakes, else the lesson.
  buttons[0]?.classList.remove('lectern-is-quiet');
  page.append(element('div', { class: 'lectern-actions' }, ...buttons), ...sectionResults(), dialog);
  return page;

  function button(
    key: 'lesson.backToLesson' | 'lesson.startAgain' | 'lesson.review' | 'lesson.leave',
    act: () => void,
  ) {
    const made = element(
      'button',
      { class: 'lectern-button lectern-is-quiet', type: 'button' },
      message(language, key),
    );
    made.addEventListener('click', act);
    return made;
  }

  /** Lists the questions of each section, with links. */
  function sectionResults(): HTMLElement[] {
    return lesson.sections.flatMap(({ title }, sectionIndex) => {
      const steps = results.filter(({ step }) => step.sectionIndex === sectionIndex);
      if (steps.length === 0) return [];
      const questions = steps.flatMap((step) => step.questions);
      const scored = questions.filter(({ points: earned }) => earned !== null);
      const right = scored.filter(({ result }) => result === 'right').length;
      const heading = element(
        'h2',
        { class: 'lectern-end-heading' },
        element('span', {}, title || lesson.title),
      );
      if (scored.length > 0) {
        const count = message(language, 'lesson.rightOf', { right, total: scored.length });
        heading.append(' ', element('span', { class: 'lectern-outline-count' }, count));
      }
      return [heading, element('ul', { class: 'lectern-results' }, ...steps.flatMap(questionRows))];
    });
  }

  function questionRows({ step, questions }: StepResults): HTMLElement[] {
    const context = { lesson, variables: progress.variables, language };
    return questions.map((question) => {
      const { widgetId, result, points: earned } = question;
      const said = [resultText(result, language)];
      // The texts of answers that need a teacher, or none, say it all.
      if (earned) said.push(message(language, 'lesson.points', earned));
      const link = questionLink(context, step, question, () => actions.goToIndex(step.index, widgetId));
      return element(
        'li',
        { class: `lectern-result-row lectern-is-${result}` },
        element('span', { class: 'lectern-result-mark' }, icon(icons[result])),
        link,
        element(
          'span',
          { class: 'lectern-result-text' },
          ...said.flatMap((part) => [element('span', {}, part), ' ']),
        ),
      );
    });
  }
}

function resultText(result: Result, language: string): string {
  switch (result) {
    case 'right':
      return message(language, 'widget.correct');
    case 'partly':
      return message(language, 'widget.partlyCorrect');
    case 'wrong':
      return message(language, 'widget.incorrect');
    case 'answered':
      return message(language, 'lesson.markAnswered');
    case 'open':
      return message(language, 'lesson.markOpen');
  }
}

/** Returns a share as a percentage, as exact as platforms compare it with a pass mark. */
export function percentText(share: number, language: string): string {
  const options = { style: 'percent', maximumFractionDigits: 2 } as const;
  return shownShare(share).toLocaleString(intlLocale(language), options);
}

/** Draws a share as a ring with its percentage. */
function ring(share: number, language: string): HTMLElement {
  const made = element('div', { class: 'lectern-ring' }, element('span', {}, percentText(share, language)));
  made.style.setProperty('--lectern-share', String(share));
  return made;
}
