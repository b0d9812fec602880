import { LecternError } from '../platform/errors.ts';
import { quote } from '../lessons/json-values.ts';
import { firstPlace, placesOf, widgetKey } from './outline.ts';
import type { LessonOutline, OutlineWidget, Place } from './outline.ts';
import { scoreAnswer, shareOf, totalPoints } from './score.ts';
import { itemsToJson } from './state.ts';
import type { FinishedAttempt, ProgressState, ProgressStatus, StoredItem } from './state.ts';
import type { ProgressWrite, WrittenItem } from './write.ts';
import type { Points } from './score.ts';

/** What a write tells about the learner: looked at the first step, did anything at all, finished the lesson. */
type ProgressEvent = 'look' | 'act' | 'finish';

const transitions: Record<ProgressStatus, Record<ProgressEvent, ProgressStatus>> = {
  not_started: { look: 'not_started', act: 'in_progress', finish: 'completed' },
  in_progress: { look: 'in_progress', act: 'in_progress', finish: 'completed' },
  completed: { look: 'completed', act: 'completed', finish: 'completed' },
};

/** The status after an event. It never goes back. */
export function nextStatus(status: ProgressStatus, event: ProgressEvent): ProgressStatus {
  return transitions[status][event];
}

/**
 * Bytes of a learner's answers and state as JSON, all together. Each write parses and prints the answers, which takes
 * about 20 ms a megabyte of all who share the process.
 */
const maxRecordBytes = 2 * 1024 ** 2;

/** The state of a learner of whom nothing is stored yet. */
export function initialProgress(versionId: string, outline: LessonOutline, now: Date): ProgressState {
  return {
    versionId,
    revision: 0,
    attempt: 1,
    status: 'not_started',
    ...totalPoints(outline, null),
    ...firstPlace(outline),
    totalSteps: outline.totalSteps,
    progressData: null,
    variableState: null,
    items: null,
    startedAt: null,
    completedAt: null,
    lastActivityAt: now,
    finished: null,
  };
}

/**
 * The state after a write. It derives all that a player cannot be trusted with: status, points and times.
 *
 * @param state of the write's version (see `carryOver`) and at its revision
 * @param outline of that version
 * @throws {LecternError} INVALID_CONTENT for a write that does not fit the version; PAYLOAD_TOO_LARGE when the
 *   record grows too large
 */
export function applyWrite(
  state: ProgressState,
  write: ProgressWrite,
  outline: LessonOutline,
  now: Date,
): ProgressState {
  const place = placeOf(write, outline);
  const before = write.restart ? { ...state, items: null, progressData: null, variableState: null } : state;
  const items = mergedItems(before.items, write, place, outline, now);
  const status = nextStatus(state.status, eventOf(write));
  const points = totalPoints(outline, items);
  const next: ProgressState = {
    versionId: state.versionId,
    revision: state.revision + 1,
    attempt: write.restart ? state.attempt + 1 : state.attempt,
    status,
    ...points,
    ...place,
    totalSteps: outline.totalSteps,
    progressData: write.progressData === undefined ? before.progressData : write.progressData,
    variableState: write.variableState === undefined ? before.variableState : write.variableState,
    items,
    startedAt: state.startedAt ?? (status === 'not_started' ? null : now),
    completedAt: state.completedAt ?? (status === 'completed' ? now : null),
    lastActivityAt: now,
    finished: finishedAfter(state.finished, write, points, now),
  };
  assertFits(next, state);
  return next;
}

/** What a write's attempt says about it, beside the attempt of the record. */
export type AttemptOrder = 'earlier' | 'current' | 'later';

/**
 * Compares the attempt that a write names with that of the record. A write without one, from an earlier release of the
 * player, belongs to the current attempt; a restart may name the attempt that it ends or the one that it begins.
 */
export function attemptOrder(
  { attempt }: Pick<ProgressState, 'attempt'>,
  write: Pick<ProgressWrite, 'attempt' | 'restart'>,
): AttemptOrder {
  const { attempt: named = attempt, restart } = write;
  if (named < attempt) return 'earlier';
  return named > (restart ? attempt + 1 : attempt) ? 'later' : 'current';
}

function placeOf(write: ProgressWrite, outline: LessonOutline): Place {
  const { currentSectionIndex, currentStepIndex } = write;
  const places = placesOf(outline);
  const place = places.find(
    ({ sectionIndex, stepIndex }) => sectionIndex === currentSectionIndex && stepIndex === currentStepIndex,
  );
  if (place === undefined) throw outside(write, outline);
  if (write.completed && place !== places.at(-1))
    throw invalid('completed is accepted on the last step only');
  return place;
}

function outside({ currentSectionIndex, currentStepIndex }: ProgressWrite, outline: LessonOutline) {
  const section = outline.sections[currentSectionIndex];
  return section === undefined
    ? invalid(
        `currentSectionIndex ${currentSectionIndex} is not one of the ${outline.sections.length} sections`,
      )
    : invalid(
        `currentStepIndex ${currentStepIndex} is not one of the ${section.steps.length} steps of its section`,
      );
}

function eventOf(write: ProgressWrite): ProgressEvent {
  if (write.completed) return 'finish';
  const isElsewhere = write.currentSectionIndex > 0 || write.currentStepIndex > 0;
  const hasState = typeof write.progressData === 'string' || typeof write.variableState === 'string';
  return isElsewhere || hasState || write.items.length > 0 ? 'act' : 'look';
}

/** The last answer to a widget counts, at the place of the first one. */
function mergedItems(
  items: StoredItem[] | null,
  write: ProgressWrite,
  place: Place,
  outline: LessonOutline,
  now: Date,
): StoredItem[] | null {
  if (write.items.length === 0) return items;
  const merged = new Map((items ?? []).map((item) => [widgetKey(item.stepId, item.widgetId), item]));
  const find = widgetFinder(outline, place);
  for (const [index, written] of write.items.entries()) {
    const found = find(written.widgetId);
    if (found === undefined) {
      throw invalid(`items[${index}].widgetId ${quote(written.widgetId)} is no widget of the version`);
    }
    merged.set(widgetKey(found.stepId, written.widgetId), storedItem(found, written, now));
  }
  return [...merged.values()];
}

interface FoundWidget {
  stepId: string;
  widget: OutlineWidget;
}

/** Finds a widget by its id, which is unique in a step only: in the step at `place`, else the first one. */
function widgetFinder(
  { sections }: LessonOutline,
  place: Place,
): (widgetId: string) => FoundWidget | undefined {
  const found = new Map<string, FoundWidget>();
  for (const { id: stepId, widgets } of sections.flatMap(({ steps }) => steps)) {
    for (const widget of widgets) {
      const { widgetId } = widget;
      if (stepId === place.stepId || !found.has(widgetId)) found.set(widgetId, { stepId, widget });
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

/** A record over the limit, stored when that was higher, may be written as long as it does not grow. */
function assertFits(next: ProgressState, before: ProgressState): void {
  const bytes = recordBytes(next);
  if (bytes <= maxRecordBytes || bytes <= recordBytes(before)) return;
  throw new LecternError(
    'PAYLOAD_TOO_LARGE',
    `Answers and state together may be at most ${maxRecordBytes} bytes, and would be ${bytes}`,
  );
}

/** Bytes of a record's JSON texts. */
function recordBytes({ items, progressData, variableState }: ProgressState): number {
  const texts = [progressData ?? '', variableState ?? '', items === null ? '' : itemsToJson(items)];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function invalid(message: string): LecternError {
  return new LecternError('INVALID_CONTENT', message);
}

/**
 * The attempt that counts in gradebooks after a write: the last one that was finished. It stays while another is under
 * way. Its points rise with answers that come later, and never fall: neither a question of a new version nor another
 * answer takes anything from who has finished.
 *
 * @param points of the attempt that the write is part of, with the write.
 */
function finishedAfter(
  before: FinishedAttempt | null,
  { restart, completed }: Pick<ProgressWrite, 'restart' | 'completed'>,
  points: Points,
  now: Date,
): FinishedAttempt | null {
  if (before?.isCurrent && !restart) {
    return shareOf(points) > shareOf(before) ? { ...before, ...points } : before;
  }
  if (completed) return { ...points, at: now, isCurrent: true };
  return before && { ...before, isCurrent: false };
}
