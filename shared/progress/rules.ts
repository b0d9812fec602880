import { LecternError } from '../platform/errors.ts';
import { quote } from '../lessons/json-values.ts';
import { firstPosition, isClosed, positionsOf, widgetKey } from './outline.ts';
import type { LessonOutline, OutlineWidget, StepPosition } from './outline.ts';
import { gradeOf } from './points.ts';
import type { Points } from './points.ts';
import { scoreAnswer, totalPoints } from './score.ts';
import { itemsToJson } from './state.ts';
import type { FinishedAttempt, ProgressState, ProgressStatus, StoredItem } from './state.ts';
import type { ProgressWrite, WrittenItem } from './write.ts';

/** A learner's activity in a write: viewed the first step, did anything else, finished the lesson. */
type ProgressEvent = 'view' | 'act' | 'finish';

const transitions: Record<ProgressStatus, Record<ProgressEvent, ProgressStatus>> = {
  not_started: { view: 'not_started', act: 'in_progress', finish: 'completed' },
  in_progress: { view: 'in_progress', act: 'in_progress', finish: 'completed' },
  completed: { view: 'completed', act: 'completed', finish: 'completed' },
};

/** Returns the status after an event. It never regresses. */
export function nextStatus(status: ProgressStatus, event: ProgressEvent): ProgressStatus {
  return transitions[status][event];
}

/**
 * The limit of a learner's answers and state as JSON, in all. Each write parses and prints the answers, which blocks
 * the process for about 20 ms per megabyte.
 */
const maxRecordBytes = 2 * 1024 ** 2;

/** Returns the state of a learner without a record. */
export function initialProgress(versionId: string, outline: LessonOutline, now: Date): ProgressState {
  return {
    versionId,
    revision: 0,
    attempt: 1,
    status: 'not_started',
    ...totalPoints(outline, null),
    ...firstPosition(outline),
    totalSteps: outline.totalSteps,
    progressData: null,
    variableState: null,
    items: null,
    stepTimes: [],
    startedAt: null,
    completedAt: null,
    lastActivityAt: now,
    finished: null,
  };
}

/**
 * Returns the state after a write. It computes status, points and times itself, because players cannot be trusted.
 *
 * @param state the state in the write's version (see `carryOver`) at its revision
 * @param outline the outline of that version
 * @throws {LecternError} INVALID_CONTENT for a write that does not fit the version; PAYLOAD_TOO_LARGE if the record
 *   grows too large
 */
export function applyWrite(
  state: ProgressState,
  write: ProgressWrite,
  outline: LessonOutline,
  now: Date,
): ProgressState {
  const position = positionOf(write, outline);
  const before = write.restart ? { ...state, items: null, progressData: null, variableState: null } : state;
  const items = mergedItems(before.items, write, position, outline, now);
  const status = nextStatus(state.status, eventOf(write));
  const points = totalPoints(outline, items);
  const next: ProgressState = {
    versionId: state.versionId,
    revision: state.revision + 1,
    attempt: write.restart ? state.attempt + 1 : state.attempt,
    status,
    ...points,
    ...position,
    totalSteps: outline.totalSteps,
    progressData: write.progressData === undefined ? before.progressData : write.progressData,
    variableState: write.variableState === undefined ? before.variableState : write.variableState,
    items,
    stepTimes: stepTimesAfter(state.stepTimes, write, outline),
    startedAt: state.startedAt ?? (status === 'not_started' ? null : now),
    completedAt: state.completedAt ?? (status === 'completed' ? now : null),
    lastActivityAt: now,
    finished: finishedAfter(state.finished, write, points, now),
  };
  assertFits(next);
  return next;
}

/** A write's attempt, compared with that of the record. */
export type AttemptOrder = 'earlier' | 'current' | 'later';

/**
 * Compares the attempt of a write with that of the record. Writes without one belong to the current attempt. A restart
 * may name the attempt that it ends or the one that it begins.
 */
export function attemptOrder(
  { attempt }: Pick<ProgressState, 'attempt'>,
  write: Pick<ProgressWrite, 'attempt' | 'restart'>,
): AttemptOrder {
  const { attempt: named = attempt, restart } = write;
  if (named < attempt) return 'earlier';
  return named > (restart ? attempt + 1 : attempt) ? 'later' : 'current';
}

function positionOf(write: ProgressWrite, outline: LessonOutline): StepPosition {
  const { currentSectionIndex, currentStepIndex } = write;
  const positions = positionsOf(outline);
  const position = positions.find(
    ({ sectionIndex, stepIndex }) => sectionIndex === currentSectionIndex && stepIndex === currentStepIndex,
  );
  if (position === undefined) throw outOfRange(write, outline);
  if (write.completed && position !== positions.at(-1))
    throw invalid('completed is accepted on the last step only');
  return position;
}

function outOfRange({ currentSectionIndex, currentStepIndex }: ProgressWrite, { sections }: LessonOutline) {
  const steps = sections[currentSectionIndex]?.steps;
  return steps === undefined
    ? invalid(`currentSectionIndex must be between 0 and ${sections.length - 1}, not ${currentSectionIndex}`)
    : invalid(`currentStepIndex must be between 0 and ${steps.length - 1}, not ${currentStepIndex}`);
}

function eventOf(write: ProgressWrite): ProgressEvent {
  if (write.completed) return 'finish';
  const isElsewhere = write.currentSectionIndex > 0 || write.currentStepIndex > 0;
  const hasState = typeof write.progressData === 'string' || typeof write.variableState === 'string';
  return isElsewhere || hasState || write.items.length > 0 ? 'act' : 'view';
}

/**
 * Adds a write's answers. The last answer to a widget replaces the earlier one in its position, until its question is
 * closed.
 */
function mergedItems(
  items: StoredItem[] | null,
  write: ProgressWrite,
  position: StepPosition,
  outline: LessonOutline,
  now: Date,
): StoredItem[] | null {
  if (write.items.length === 0) return items;
  const find = widgetFinder(outline, position);
  const given = new Map<string, { found: FoundWidget; written: WrittenItem }>();
  for (const [index, written] of write.items.entries()) {
    const found = find(written.widgetId);
    if (found === undefined) {
      throw invalid(`items[${index}].widgetId ${quote(written.widgetId)} is not a widget of the version`);
    }
    given.set(widgetKey(found.stepId, written.widgetId), { found, written });
  }
  const merged = new Map((items ?? []).map((item) => [widgetKey(item.stepId, item.widgetId), item]));
  for (const [key, { found, written }] of given) {
    const earlier = merged.get(key);
    if (earlier && isClosed(found.widget, earlier)) continue;
    merged.set(key, { ...storedItem(found, written, now), ...triesAfter(earlier, written) });
  }
  return [...merged.values()];
}

/** The JSON of an empty answer. */
const emptyAnswer = /^(null|""|\[\s*\]|\{\s*\})$/;

/**
 * Counts a try. The same answer, which may have been sent twice, counts once. An empty answer is no try. After a time
 * offline, players send only the last answer and report the number of tries. Otherwise learners could repeat the tries
 * that they made offline.
 */
function triesAfter(
  earlier: StoredItem | undefined,
  { answer, tries: reported = 0 }: WrittenItem,
): Pick<StoredItem, 'tries'> {
  const before = earlier === undefined ? 0 : (earlier.tries ?? 1);
  const isTry = earlier?.answer !== answer && !emptyAnswer.test(answer);
  const tries = Math.max(before + (isTry ? 1 : 0), reported);
  return tries === 1 ? {} : { tries };
}

/** The maximum active time that counts for a step. Idle pages add none, so no learner needs more. */
const maxStepTimeMs = 4 * 3_600_000;

/** Adds a write's active time on steps. A restart keeps it. */
function stepTimesAfter(
  before: number[],
  write: Pick<ProgressWrite, 'stepTimes'>,
  outline: LessonOutline,
): number[] {
  const added = Object.entries(write.stepTimes);
  if (added.length === 0) return before;
  const places = new Map(positionsOf(outline).map(({ stepId }, place) => [stepId, place]));
  const after = [...before];
  for (const [stepId, ms] of added) {
    const place = places.get(stepId);
    if (place === undefined)
      throw invalid(`stepTimes has ${quote(stepId)}, which is not a step of the version`);
    while (after.length <= place) after.push(0);
    after[place] = Math.min(maxStepTimeMs, (after[place] ?? 0) + Math.round(ms));
  }
  return after;
}

interface FoundWidget {
  stepId: string;
  widget: OutlineWidget;
}

/** Finds widgets by id. Ids are unique within a step only: the current step comes first, then the lesson's order. */
function widgetFinder(
  { sections }: LessonOutline,
  position: StepPosition,
): (widgetId: string) => FoundWidget | undefined {
  const found = new Map<string, FoundWidget>();
  for (const { id: stepId, widgets } of sections.flatMap(({ steps }) => steps)) {
    for (const widget of widgets) {
      const { widgetId } = widget;
      if (stepId === position.stepId || !found.has(widgetId)) found.set(widgetId, { stepId, widget });
    }
  }
  return (widgetId) => found.get(widgetId);
}

function storedItem({ stepId, widget }: FoundWidget, written: WrittenItem, now: Date): StoredItem {
  return {
    widgetId: widget.widgetId,
    widgetType: widget.widgetType,
    stepId,
    answer: written.answer,
    ...scoreAnswer(widget, written.answer, { score: written.score, maxScore: written.maxScore }),
    answeredAt: now.toISOString(),
  };
}

/** Checks the size of a record's JSON texts. */
function assertFits({ items, progressData, variableState }: ProgressState): void {
  const texts = [progressData ?? '', variableState ?? '', items === null ? '' : itemsToJson(items)];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= maxRecordBytes) return;
  throw new LecternError(
    'PAYLOAD_TOO_LARGE',
    `Answers and state together may be at most ${maxRecordBytes} bytes, and would be ${bytes}`,
  );
}

function invalid(message: string): LecternError {
  return new LecternError('INVALID_CONTENT', message);
}

/**
 * Returns the attempt that counts in gradebooks after a write: the last finished one, until another one is finished.
 * Later answers can raise its points. Nothing lowers them, neither a wrong answer nor a question of a new version.
 *
 * @param points the points of the write's attempt, after the write.
 */
function finishedAfter(
  before: FinishedAttempt | null,
  { restart, completed }: Pick<ProgressWrite, 'restart' | 'completed'>,
  points: Points,
  now: Date,
): FinishedAttempt | null {
  if (before?.isCurrent && !restart) {
    return gradeOf(points) > gradeOf(before) ? { ...before, ...points } : before;
  }
  if (completed) return { ...points, at: now, isCurrent: true };
  return before && { ...before, isCurrent: false };
}
