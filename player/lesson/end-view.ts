import { intlLocale, message } from '../../shared/i18n/message.ts';
import { finalShare, shownShare } from '../../shared/progress/points.ts';
import type { Points } from '../../shared/progress/points.ts';
import { element, icon } from '../dom.ts';
import { confirmDialog } from './confirm-dialog.ts';
import { pointsOf } from './lesson-progress.ts';
import type { LessonProgress } from './lesson-progress.ts';
import { isMistake, resultsOf } from './question-results.ts';
import type { QuestionResult, Result, StepResults } from './question-results.ts';
import type { PlayedLesson } from './read-lesson.ts';
import { questionLink } from './question-link.ts';
import type { Variables } from './visibility.ts';

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
  const results = resultsOf(lesson, progress);
  const questions = results.flatMap((step) => step.questions);
  const { dialog, open } = confirmDialog(
    {
      title: message(language, 'lesson.startAgainAsk'),
      note: message(language, 'lesson.startAgainNote'),
      confirm: message(language, 'lesson.startAgain'),
      cancel: message(language, 'lesson.cancel'),
    },
    () => actions.restart(),
  );
  return element(
    'div',
    { class: 'lectern-end' },
    element('p', {}, message(language, 'lesson.completeNote')),
    ...(questions.length > 0 ? [resultBox(questions, pointsOf(lesson, progress), language)] : []),
    actionBar(questions.some(isMistake), language, { ...actions, restart: open }),
    ...sectionResults(lesson, results, { variables: progress.variables, language, actions }),
    dialog,
  );
}

/** Shows the points, and how many questions are answered. */
function resultBox(questions: readonly QuestionResult[], points: Points, language: string): HTMLElement {
  const texts = element('div', {});
  const box = element('div', { class: 'lectern-result' }, texts);
  const { score, maxScore } = points;
  if (maxScore !== null) {
    box.prepend(ring(finalShare(points), language));
    const text = message(language, 'widget.score', { score: score ?? 0, maxScore });
    texts.append(element('p', { class: 'lectern-score' }, text));
  }
  const answered = questions.filter(({ result }) => result !== 'open').length;
  const total = questions.length;
  texts.append(element('p', {}, message(language, 'lesson.answered', { answered, total })));
  return box;
}

/** One action stands out: back to the course, else the mistakes, else the lesson. */
function actionBar(hasMistakes: boolean, language: string, actions: EndActions): HTMLElement {
  const button = (
    key: 'lesson.backToLesson' | 'lesson.startAgain' | 'lesson.review' | 'lesson.leave',
    act: () => void,
  ) => {
    const label = message(language, key);
    const made = element('button', { class: 'lectern-button lectern-is-quiet', type: 'button' }, label);
    made.addEventListener('click', () => act());
    return made;
  };
  const buttons = [
    ...(actions.leave ? [button('lesson.leave', actions.leave)] : []),
    ...(hasMistakes ? [button('lesson.review', actions.review)] : []),
    button('lesson.backToLesson', actions.back),
    button('lesson.startAgain', actions.restart),
  ];
  buttons[0]?.classList.remove('lectern-is-quiet');
  return element('div', { class: 'lectern-actions' }, ...buttons);
}

/** What links to questions need. */
interface ResultContext {
  variables: Variables;
  language: string;
  actions: EndActions;
}

/** Lists the questions of each section, with links. */
function sectionResults(
  lesson: PlayedLesson,
  results: readonly StepResults[],
  context: ResultContext,
): HTMLElement[] {
  return lesson.sections.flatMap(({ title }, sectionIndex) => {
    const steps = results.filter(({ step }) => step.sectionIndex === sectionIndex);
    if (steps.length === 0) return [];
    const scored = steps.flatMap(({ questions }) => questions).filter(({ points }) => points !== null);
    const right = scored.filter(({ result }) => result === 'right').length;
    const heading = element(
      'h2',
      { class: 'lectern-end-heading' },
      element('span', {}, title || lesson.title),
    );
    if (scored.length > 0) {
      const count = message(context.language, 'lesson.rightOf', { right, total: scored.length });
      heading.append(' ', element('span', { class: 'lectern-outline-count' }, count));
    }
    const rows = steps.flatMap((step) => questionRows(lesson, step, context));
    return [heading, element('ul', { class: 'lectern-results' }, ...rows)];
  });
}

function questionRows(
  lesson: PlayedLesson,
  { step, questions }: StepResults,
  { variables, language, actions }: ResultContext,
): HTMLElement[] {
  return questions.map((question) => {
    const { widgetId, result, points } = question;
    const said = [resultText(result, language)];
    // The texts of answers that need a teacher, or none, say it all.
    if (points) said.push(message(language, 'lesson.points', points));
    const link = questionLink({ lesson, variables, language }, step, question, () =>
      actions.goToIndex(step.index, widgetId),
    );
    const texts = said.flatMap((part) => [element('span', {}, part), ' ']);
    return element(
      'li',
      { class: `lectern-result-row lectern-is-${result}` },
      element('span', { class: 'lectern-result-mark' }, icon(icons[result])),
      link,
      element('span', { class: 'lectern-result-text' }, ...texts),
    );
  });
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
