import { pointsOfWidget, widgetKey } from '../../shared/progress/outline.ts';
import { scoreAnswer, totalPoints } from '../../shared/progress/score.ts';
import type { Points } from '../../shared/progress/score.ts';
import type { AnswerResult } from '../block.ts';
import { jsonCopy, record } from '../props.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import type { AnswerItem, LessonState } from './state.ts';
import type { Variables } from './visibility.ts';

/** The progress of a learner in a lesson that has steps. Nothing changes one in place. */
export interface LessonProgress {
  /** Of the step in {@link PlayedLesson.steps}. */
  index: number;
  atEnd: boolean;
  completed: boolean;
  visited: readonly string[];
  items: readonly AnswerItem[];
  /** How often widgets were answered, by {@link widgetKey}, for those answered more than once. */
  tries: ReadonlyMap<string, number>;
  variables: Variables;
}

export type LessonAction =
  | { kind: 'go'; index: number }
  | { kind: 'finish' }
  | { kind: 'answer'; item: AnswerItem }
  | { kind: 'set'; name: string; value: unknown }
  | { kind: 'restart' };

/** Answers above this many points are refused by the server. */
const maxPoints = 1000;

/** The step that is shown, or that was shown before the end. */
export function currentStep(lesson: PlayedLesson, { index }: LessonProgress): PlayedStep {
  const step = lesson.steps[index];
  if (step === undefined) throw new Error(`The lesson has no step ${index}`);
  return step;
}

/** The progress after an action. */
export function nextProgress(
  lesson: PlayedLesson,
  progress: LessonProgress,
  action: LessonAction,
): LessonProgress {
  switch (action.kind) {
    case 'go':
      return at(lesson, { ...progress, atEnd: false }, action.index);
    case 'finish':
      return { ...progress, atEnd: true, completed: true };
    case 'answer':
      return withAnswer(progress, action.item);
    case 'set':
      return { ...progress, variables: { ...progress.variables, [action.name]: action.value } };
    case 'restart':
      return startProgress(lesson);
  }
}

/** The progress of somebody who opens the lesson for the first time, or anew. */
export function startProgress(lesson: PlayedLesson): LessonProgress {
  const { variables } = lesson;
  const nothing = { atEnd: false, completed: false, visited: [], items: [], tries: new Map(), variables };
  return at(lesson, { ...nothing, index: 0 }, 0);
}

/**
 * Reads saved progress: what {@link savedState} made, or a record of the session address. Nothing about it is
 * relied on: it may be of another version of the lesson, or broken. The step is found by its id, else by its place.
 *
 * @param startAt id of a step to start at instead; ignored when the lesson has no such step
 */
export function resumeProgress(lesson: PlayedLesson, state: unknown, startAt?: string): LessonProgress {
  const saved = readableState(state);
  const data = record(saved.progressData);
  const steps = new Set(lesson.steps.map(({ id }) => id));
  const wanted = lesson.steps.find(({ id }) => id === startAt);
  const index = (wanted ?? savedStep(lesson, saved))?.index ?? 0;
  const progress = {
    index,
    // Another version may go on where this one ended.
    atEnd: data.atEnd === true && wanted === undefined && index === lesson.steps.length - 1,
    completed: data.completed === true,
    visited: list(data.visited).filter((id): id is string => typeof id === 'string' && steps.has(id)),
    items: list(saved.items).reduce<AnswerItem[]>((items, entry) => {
      const item = readItem(lesson, entry);
      return item === undefined ? items : withItem(items, item);
    }, []),
    tries: readTries(data.tries),
    variables: { ...lesson.variables, ...record(saved.variableState) },
  };
  return at(lesson, progress, index);
}

/** The state to store, a copy. */
export function savedState(lesson: PlayedLesson, progress: LessonProgress): LessonState {
  const { id, sectionIndex, stepIndex } = currentStep(lesson, progress);
  const { items, variables, visited, completed, atEnd, tries } = progress;
  return jsonCopy({
    sectionIndex,
    stepIndex,
    stepId: id,
    items: [...items],
    variableState: { ...variables },
    progressData: {
      visited: [...visited],
      completed,
      atEnd,
      tries: [...tries].map(([key, count]) => {
        const [step = '', widgetId = ''] = key.split('\n');
        return { stepId: step, widgetId, tries: count };
      }),
    },
  });
}

/** The points of the lesson so far, by the rules that the server counts by. */
export function pointsOf(lesson: PlayedLesson, { items }: LessonProgress): Points {
  return totalPoints(lesson.outline, items);
}

/**
 * An answer as an item, scored by the rules that the server scores by.
 *
 * @param result what a widget says that the answer earned; for widgets that are not core its share of the points counts
 * @throws an Error for a widget that the lesson does not have, for an answer that does not survive JSON, and for a
 *   result out of bounds
 */
export function answerItem(
  lesson: PlayedLesson,
  place: { stepId: string; widgetId: string },
  answer: unknown,
  result: AnswerResult | undefined,
  now: Date,
): AnswerItem {
  const widget = lesson.widgets.get(widgetKey(place.stepId, place.widgetId));
  if (widget === undefined) throw new Error('Answers are kept for blocks that have an id');
  const value = jsonCopy(answer);
  const claimed = result === undefined ? { score: null, maxScore: null } : checkedResult(result);
  return {
    widgetId: place.widgetId,
    widgetType: widget.widgetType,
    stepId: place.stepId,
    answer: value,
    ...scoreAnswer(widget, JSON.stringify(value), claimed),
    answeredAt: now.toISOString(),
  };
}

/** The saved answer of a widget; undefined when there is none. */
export function savedAnswer({ items }: LessonProgress, stepId: string, widgetId: string): unknown {
  return items.find((item) => item.stepId === stepId && item.widgetId === widgetId)?.answer;
}

/** How often a widget was answered. */
export function triesOf({ items, tries }: LessonProgress, stepId: string, widgetId: string): number {
  const isAnswered = items.some((item) => item.stepId === stepId && item.widgetId === widgetId);
  return isAnswered ? (tries.get(widgetKey(stepId, widgetId)) ?? 1) : 0;
}

/** How many questions the lesson asks, how many are answered, and the steps with open ones. */
export function questionsOf(
  lesson: PlayedLesson,
  { items }: LessonProgress,
): { total: number; answered: number; openSteps: PlayedStep[] } {
  const answered = new Set(items.map(({ stepId, widgetId }) => widgetKey(stepId, widgetId)));
  const open = new Set<string>();
  for (const { id, widgets } of lesson.outline.sections.flatMap(({ steps }) => steps)) {
    for (const widget of widgets) {
      const { widgetId, widgetType, isConditional } = widget;
      const asks = widgetType === 'OpenResponse' || pointsOfWidget(widget) !== null;
      if (asks && !isConditional && !answered.has(widgetKey(id, widgetId))) open.add(widgetKey(id, widgetId));
    }
  }
  return {
    total: answered.size + open.size,
    answered: answered.size,
    openSteps: lesson.steps.filter(({ id }) => [...open].some((key) => key.startsWith(`${id}\n`))),
  };
}

function at(lesson: PlayedLesson, progress: LessonProgress, index: number): LessonProgress {
  const { id } = currentStep(lesson, { ...progress, index });
  const { visited } = progress;
  return { ...progress, index, visited: visited.includes(id) ? visited : [...visited, id] };
}

function withAnswer(progress: LessonProgress, item: AnswerItem): LessonProgress {
  const { stepId, widgetId } = item;
  const tries = triesOf(progress, stepId, widgetId) + 1;
  return {
    ...progress,
    items: withItem(progress.items, item),
    tries: tries > 1 ? new Map([...progress.tries, [widgetKey(stepId, widgetId), tries]]) : progress.tries,
  };
}

/** The last answer counts, at the place of the first one. */
function withItem(items: readonly AnswerItem[], item: AnswerItem): AnswerItem[] {
  const keyOf = ({ stepId, widgetId }: AnswerItem) => widgetKey(stepId, widgetId);
  if (!items.some((other) => keyOf(other) === keyOf(item))) return [...items, item];
  return items.map((other) => (keyOf(other) === keyOf(item) ? item : other));
}

/** A copy, so that whoever holds the state may go on using it; nothing of one that is no JSON. */
function readableState(state: unknown): Record<string, unknown> {
  try {
    return record(jsonCopy(state));
  } catch {
    return {};
  }
}

function savedStep(lesson: PlayedLesson, saved: Record<string, unknown>): PlayedStep | undefined {
  const sectionIndex = saved.sectionIndex ?? saved.currentSectionIndex;
  const stepIndex = saved.stepIndex ?? saved.currentStepIndex;
  return (
    lesson.steps.find(({ id }) => id === saved.stepId) ??
    lesson.steps.find((step) => step.sectionIndex === sectionIndex && step.stepIndex === stepIndex)
  );
}

/** A stored answer keeps the points it earned, also where the lesson would score it otherwise today. */
function readItem(lesson: PlayedLesson, entry: unknown): AnswerItem | undefined {
  const { widgetId, stepId, answer, score, maxScore, answeredAt, widgetType } = record(entry);
  if (typeof widgetId !== 'string' || typeof stepId !== 'string' || answer === undefined) return undefined;
  const widget = lesson.widgets.get(widgetKey(stepId, widgetId));
  const stored = { score: points(score), maxScore: points(maxScore) };
  const counted =
    widget && score === undefined ? scoreAnswer(widget, JSON.stringify(answer), stored) : stored;
  return {
    widgetId,
    widgetType: typeof widgetType === 'string' ? widgetType : (widget?.widgetType ?? ''),
    stepId,
    answer,
    ...counted,
    answeredAt: typeof answeredAt === 'string' ? answeredAt : new Date(0).toISOString(),
  };
}

function readTries(value: unknown): Map<string, number> {
  return new Map(
    list(value).flatMap((entry) => {
      const { stepId, widgetId, tries } = record(entry);
      if (typeof stepId !== 'string' || typeof widgetId !== 'string') return [];
      return Number.isSafeInteger(tries) ? [[widgetKey(stepId, widgetId), tries as number] as const] : [];
    }),
  );
}

function checkedResult({ score, maxScore }: AnswerResult): Points {
  if (0 <= score && score <= maxScore && maxScore <= maxPoints) return { score, maxScore };
  throw new Error(`A result has to be 0 <= score <= maxScore <= ${maxPoints}`);
}

function points(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
