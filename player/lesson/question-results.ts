import { isOpenQuestion } from '../../shared/lessons/core-widgets.ts';
import type { Score } from '../../shared/lessons/scoring/scoring.ts';
import { pointsOfWidget } from '../../shared/progress/outline.ts';
import { isWidgetClosed } from './lesson-progress.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import type { AnswerItem } from './state.ts';

/** How a question was answered; `answered` if it is not scored, `open` if it has no answer. */
export type Result = 'right' | 'partly' | 'wrong' | 'answered' | 'open';

/** The learner's results in a step. */
export type StepMark = 'unseen' | 'seen' | 'answered' | 'right';

export interface QuestionResult {
  widgetId: string;
  /** The position among the questions of the step, from one; null for the only one. */
  number: number | null;
  result: Result;
  /** The points of the answer, or of no answer; null for a question that is not scored. */
  points: Score | null;
}

/** The questions of a step with their results, in reading order. */
export interface StepResults {
  step: PlayedStep;
  questions: QuestionResult[];
}

/** Returns the steps with questions. Questions that a condition may hide count once they are answered. */
export function resultsOf(lesson: PlayedLesson, { items }: Pick<LessonProgress, 'items'>): StepResults[] {
  const answers = new Map<string, AnswerItem[]>();
  for (const item of items) answers.set(item.stepId, [...(answers.get(item.stepId) ?? []), item]);
  const outlines = lesson.outline.sections.flatMap(({ steps }) => steps);
  return lesson.steps.flatMap((step) => {
    const open = (outlines[step.index]?.widgets ?? []).filter(
      (widget) =>
        !widget.isConditional && (isOpenQuestion(widget.widgetType) || pointsOfWidget(widget) !== null),
    );
    const possible = new Map(open.map((widget) => [widget.widgetId, pointsOfWidget(widget)]));
    const given = new Map((answers.get(step.id) ?? []).map((item) => [item.widgetId, item]));
    const ids = [...new Set([...open.map(({ widgetId }) => widgetId), ...given.keys()])];
    if (ids.length === 0) return [];
    return {
      step,
      questions: ids.map((widgetId, index) => {
        const item = given.get(widgetId);
        const { score, maxScore } = item ?? { score: 0, maxScore: possible.get(widgetId) ?? null };
        const points = maxScore === null ? null : { score: score ?? 0, maxScore };
        return { widgetId, number: ids.length > 1 ? index + 1 : null, result: resultOf(item), points };
      }),
    };
  });
}

/** Returns the marks of all steps, by their index. */
export function stepMarks(lesson: PlayedLesson, progress: LessonProgress): StepMark[] {
  const seen = new Set(progress.visited);
  const results = new Map(resultsOf(lesson, progress).map(({ step, questions }) => [step.index, questions]));
  return lesson.steps.map(({ id, index }) => {
    const questions = results.get(index) ?? [];
    if (questions.length === 0 || questions.some(({ result }) => result === 'open')) {
      return seen.has(id) ? 'seen' : 'unseen';
    }
    return questions.every(({ result }) => result === 'right') ? 'right' : 'answered';
  });
}

/**
 * Returns the unanswered questions of each step that has some.
 *
 * @param current the index of the current step
 * @param drafts ids of the questions of the current step with an unsubmitted answer; they count as answered
 */
export function openQuestions(
  results: readonly StepResults[],
  current: number,
  drafts: ReadonlySet<string>,
): StepResults[] {
  return results.flatMap(({ step, questions }) => {
    const open = questions.filter(
      ({ widgetId, result }) => result === 'open' && !(step.index === current && drafts.has(widgetId)),
    );
    return open.length > 0 ? [{ step, questions: open }] : [];
  });
}

/**
 * Checks whether the current step has an unanswered question, or a scored one with a mistake and tries left.
 *
 * @param drafts as for {@link openQuestions}
 */
export function hasTask(
  lesson: PlayedLesson,
  progress: LessonProgress,
  drafts: ReadonlySet<string>,
): boolean {
  const current = resultsOf(lesson, progress).filter(({ step }) => step.index === progress.index);
  const isOpen = openQuestions(current, progress.index, drafts).length > 0;
  return isOpen || current.some((results) => hasRetry(lesson, progress, results));
}

function hasRetry(lesson: PlayedLesson, progress: LessonProgress, { step, questions }: StepResults): boolean {
  return questions.some((found) => {
    const { widgetId } = found;
    const { question = null } = lesson.widgetOf(step.id, widgetId) ?? {};
    // Widgets that score themselves decide alone whether they take another answer.
    return isMistake(found) && question !== null && !isWidgetClosed(lesson, progress, step.id, widgetId);
  });
}

/** A question that was answered with a mistake, and perhaps corrected since. */
export interface Mistake {
  step: PlayedStep;
  widgetId: string;
}

/** Returns the first mistake after another one, or in the lesson; undefined if there is none. */
export function mistakeAfter(
  lesson: PlayedLesson,
  progress: LessonProgress,
  last: Mistake | undefined,
): Mistake | undefined {
  const all = resultsOf(lesson, progress).flatMap(({ step, questions }) =>
    questions.map((question) => ({ ...question, step })),
  );
  const from = all.findIndex(({ step, widgetId }) => step === last?.step && widgetId === last.widgetId) + 1;
  return all.slice(from).find(isMistake);
}

export function isMistake({ result }: QuestionResult): boolean {
  return result === 'wrong' || result === 'partly';
}

function resultOf(item: AnswerItem | undefined): Result {
  if (item === undefined) return 'open';
  const { score, maxScore } = item;
  if (score === null || maxScore === null) return 'answered';
  if (score >= maxScore) return 'right';
  return score > 0 ? 'partly' : 'wrong';
}
