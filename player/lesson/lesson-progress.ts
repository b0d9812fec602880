import { isClosed, widgetKey } from '../../shared/progress/outline.ts';
import { scoreAnswer, totalPoints } from '../../shared/progress/score.ts';
import { readTries } from '../../shared/progress/tries.ts';
import type { Points } from '../../shared/progress/points.ts';
import type { AnswerResult } from '../block.ts';
import { jsonCopy, record } from '../props.ts';
import type { PlayedLesson, PlayedStep } from './read-lesson.ts';
import type { AnswerItem, LessonState } from './state.ts';
import type { Variables } from './visibility.ts';

/** A learner's progress in a lesson that has steps. Immutable. */
export interface LessonProgress {
  /** Index of the step in {@link PlayedLesson.steps}. */
  index: number;
  atEnd: boolean;
  completed: boolean;
  visited: readonly string[];
  items: readonly AnswerItem[];
  /** Numbers of answers by {@link widgetKey}, for widgets that were answered more than once. */
  tries: ReadonlyMap<string, number>;
  variables: Variables;
}

export type LessonAction =
  | { kind: 'go'; index: number }
  | { kind: 'finish' }
  | { kind: 'answer'; item: AnswerItem }
  | { kind: 'set'; name: string; value: unknown }
  | { kind: 'restart' };

/** The maximum points of an answer that the server accepts. */
const maxPoints = 1000;

/** Hosted pages send at most a million characters at once: an answer with all variables. */
const maxAnswerChars = 500_000;
const maxVariablesChars = 250_000;

/** Returns the current step; at the end, the last one. */
export function currentStep(lesson: PlayedLesson, { index }: LessonProgress): PlayedStep {
  const step = lesson.steps[index];
  if (step === undefined) throw new Error(`The lesson has no step ${index}`);
  return step;
}

/** Returns the progress after an action. */
export function nextProgress(
  lesson: PlayedLesson,
  progress: LessonProgress,
  action: LessonAction,
): LessonProgress {
  switch (action.kind) {
    case 'go':
      return at(lesson, { ...progress, atEnd: false }, action.index);
    case 'finish':
      return { ...progress, index: lesson.steps.length - 1, atEnd: true, completed: true };
    case 'answer':
      return withAnswer(progress, action.item);
    case 'set':
      return { ...progress, variables: { ...progress.variables, [action.name]: action.value } };
    case 'restart':
      return startProgress(lesson);
  }
}

/** Returns the progress of a learner who starts the lesson, for the first time or again. */
export function startProgress(lesson: PlayedLesson): LessonProgress {
  const { variables } = lesson;
  const initial = { atEnd: false, completed: false, visited: [], items: [], tries: new Map(), variables };
  return at(lesson, { ...initial, index: 0 }, 0);
}

/**
 * Reads saved progress: a result of {@link savedState}, or a record of the session endpoint. It may be of another
 * version of the lesson, or broken. The step is found by its id, or else by its position.
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
    // Another version may have steps after the one that was the last.
    atEnd: data.atEnd === true && wanted === undefined && index === lesson.steps.length - 1,
    completed: data.completed === true,
    visited: list(data.visited).filter((id): id is string => typeof id === 'string' && steps.has(id)),
    items: list(saved.items).reduce<AnswerItem[]>((items, entry) => {
      const item = readItem(lesson, entry);
      return item === undefined ? items : withItem(items, item);
    }, []),
    // The server counts only the answers that have reached it.
    tries: new Map(
      [...readTries(saved.items), ...readTries(data.tries)].map(({ stepId, widgetId, tries }) => [
        widgetKey(stepId, widgetId),
        tries,
      ]),
    ),
    variables: { ...lesson.variables, ...record(saved.variableState) },
  };
  return at(lesson, progress, index);
}

/**
 * Returns the progress with what the learner has done elsewhere on other steps. The current step and the one that was
 * shown before keep their answers, and the lesson its variables.
 *
 * @param state as in {@link resumeProgress}
 */
export function withOthers(
  lesson: PlayedLesson,
  progress: LessonProgress,
  state: unknown,
  shownId: string,
): LessonProgress {
  const { items, tries, visited, completed } = resumeProgress(lesson, state);
  const kept = [shownId, currentStep(lesson, progress).id];
  const own = progress.items.filter(({ stepId }) => kept.includes(stepId));
  const ownTries = [...progress.tries].filter(([key]) => kept.some((id) => key.startsWith(`${id}\n`)));
  return {
    ...progress,
    completed: progress.completed || completed,
    visited: [...new Set([...progress.visited, ...visited])],
    items: own.reduce(withItem, items),
    tries: new Map([...tries, ...ownTries]),
  };
}

/** Returns a copy of the state, to store. */
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

/** Returns the exact points of the lesson so far, counted as on the server. */
export function pointsOf(lesson: PlayedLesson, { items }: LessonProgress): Points {
  return totalPoints(lesson.outline, items);
}

/**
 * Makes an item of an answer, scored as on the server.
 *
 * @param result the points that the widget claims; custom widgets earn the claimed share of their declared points
 * @throws an Error for a widget that the lesson lacks, for an answer that is not JSON, and for a result out of bounds
 */
export function answerItem(
  lesson: PlayedLesson,
  { stepId, widgetId }: { stepId: string; widgetId: string },
  answer: unknown,
  result: AnswerResult | undefined,
  now: Date,
): AnswerItem {
  const widget = lesson.widgetOf(stepId, widgetId);
  if (widget === undefined) throw new Error('Answers are kept for blocks that have an id');
  const value = jsonCopy(answer);
  const text = JSON.stringify(value);
  assertLength('The answer', text, maxAnswerChars);
  const claimed = result === undefined ? { score: null, maxScore: null } : checkedResult(result);
  return {
    widgetId,
    widgetType: widget.widgetType,
    stepId,
    answer: value,
    ...scoreAnswer(widget, text, claimed),
    answeredAt: now.toISOString(),
  };
}

/** Returns a copy of the value that a variable will have. @throws if the variables would be too large */
export function variableCopy({ variables }: LessonProgress, name: string, value: unknown): unknown {
  const copy = jsonCopy(value);
  assertLength('All variables', JSON.stringify({ ...variables, [name]: copy }), maxVariablesChars);
  return copy;
}

function assertLength(what: string, json: string, maxChars: number): void {
  if (json.length > maxChars) throw new Error(`${what} may have at most ${maxChars} characters as JSON`);
}

/** Returns the saved answer of a widget; undefined if there is none. */
export function savedAnswer({ items }: LessonProgress, stepId: string, widgetId: string): unknown {
  return items.find((item) => item.stepId === stepId && item.widgetId === widgetId)?.answer;
}

/** Returns the number of answers to a widget so far. */
export function triesOf({ items, tries }: LessonProgress, stepId: string, widgetId: string): number {
  const isAnswered = items.some((item) => item.stepId === stepId && item.widgetId === widgetId);
  return isAnswered ? (tries.get(widgetKey(stepId, widgetId)) ?? 1) : 0;
}

/** Returns whether later answers to a widget change nothing, as on the server. */
export function isWidgetClosed(
  lesson: PlayedLesson,
  progress: LessonProgress,
  stepId: string,
  widgetId: string,
): boolean {
  const widget = lesson.widgetOf(stepId, widgetId);
  const item = progress.items.find((other) => other.stepId === stepId && other.widgetId === widgetId);
  if (widget === undefined || item === undefined) return false;
  return isClosed(widget, { ...item, tries: triesOf(progress, stepId, widgetId) });
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

/** Replaces the widget's earlier answer in its position, or appends the answer. */
function withItem(items: readonly AnswerItem[], item: AnswerItem): AnswerItem[] {
  const keyOf = ({ stepId, widgetId }: AnswerItem) => widgetKey(stepId, widgetId);
  if (!items.some((other) => keyOf(other) === keyOf(item))) return [...items, item];
  return items.map((other) => (keyOf(other) === keyOf(item) ? item : other));
}

/** Copies a caller's state; {} if it is not JSON. */
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

/** Reads a stored answer. It keeps the points that it earned, even if the lesson would score it differently now. */
function readItem(lesson: PlayedLesson, entry: unknown): AnswerItem | undefined {
  const { widgetId, stepId, answer, score, maxScore, answeredAt, widgetType } = record(entry);
  if (typeof widgetId !== 'string' || typeof stepId !== 'string' || answer === undefined) return undefined;
  const widget = lesson.widgetOf(stepId, widgetId);
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

function checkedResult({ score, maxScore }: AnswerResult): Points {
  if (0 <= score && score <= maxScore && maxScore <= maxPoints) return { score, maxScore };
  throw new Error(`A result must be 0 <= score <= maxScore <= ${maxPoints}, but is ${score} of ${maxScore}`);
}

function points(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
