import { isOpenQuestion } from '../../shared/lessons/core-widgets.ts';
import { pointsOfWidget } from '../../shared/progress/outline.ts';
import type { LessonProgress } from './lesson-progress.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import type { AnswerItem } from './state.ts';

/** How a question was answered; `answered` if it is not scored, `open` if it has no answer. */
export type Result = 'right' | 'partly' | 'wrong' | 'answered' | 'open';

/** What the learner has done in a step. */
export type StepMark = 'unseen' | 'seen' | 'answered' | 'right';

/** The questions of a step with their results, in reading order. */
export interface StepResults {
  step: PlayedStep;
  questions: { widgetId: string; result: Result; isScored: boolean }[];
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
    const scored = new Set(
      open.filter((widget) => pointsOfWidget(widget) !== null).map(({ widgetId }) => widgetId),
    );
    const given = new Map((answers.get(step.id) ?? []).map((item) => [item.widgetId, item]));
    const ids = new Set([...open.map(({ widgetId }) => widgetId), ...given.keys()]);
    if (ids.size === 0) return [];
    return {
      step,
      questions: [...ids].map((widgetId) => {
        const item = given.get(widgetId);
        const isScored = item === undefined ? scored.has(widgetId) : item.maxScore !== null;
        return { widgetId, result: resultOf(item), isScored };
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

export function isMistake({ questions }: StepResults): boolean {
  return questions.some(({ result }) => result === 'wrong' || result === 'partly');
}

function resultOf(item: AnswerItem | undefined): Result {
  if (item === undefined) return 'open';
  const { score, maxScore } = item;
  if (score === null || maxScore === null) return 'answered';
  if (score >= maxScore) return 'right';
  return score > 0 ? 'partly' : 'wrong';
}
