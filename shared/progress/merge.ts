import { LecternError } from '../platform/errors.ts';
import type { Facts } from './facts.ts';
import { firstPosition, isClosed, positionsOf, widgetKey, widgetsByKey } from './outline.ts';
import type { LessonOutline, OutlineWidget } from './outline.ts';
import { gradeOf } from './points.ts';
import type { Points } from './points.ts';
import { totalPoints } from './score.ts';
import type {
  FactOrder,
  FinishedAttempt,
  ProgressState,
  ProgressStatus,
  StoredAttributes,
  StoredItem,
  StoredVariable,
} from './state.ts';

/*
 * Merges facts into a learner's record (a state-based CRDT). Merging is commutative, associative and idempotent: for each
 * part of the record, the facts about it have a total order, and the greatest one stays. Devices therefore need no
 * protocol for order, repetition, other tabs, or a week offline.
 *
 * The order of arrival decides only: tries, and questions closed by them; the points of a finished attempt; active time;
 * size limits; the times of start, completion and last activity; and the sequence of items and variables.
 */

/** The limit of a record. Each write prints and stores all of it. */
export const maxRecordBytes = 1024 ** 2;

/** What an answer or a variable counts beside its JSON: MongoDB stores ids and times with each. */
const entryBytes = 128;

/** A write adds its active time once, unless it is repeated after so many others. */
const keptWriteIds = 20;

/** The maximum active time that counts for a step. Idle pages add none, so no learner needs more. */
const maxStepTimeMs = 4 * 3_600_000;

/** Returns the state of a learner without a record. */
export function initialProgress(versionId: string, outline: LessonOutline, now: Date): ProgressState {
  return {
    versionId,
    revision: 0,
    attempt: 1,
    status: 'not_started',
    ...totalPoints(outline, []),
    ...firstPosition(outline),
    ...noAttempt,
    totalSteps: outline.totalSteps,
    stepTimes: [],
    userAttributes: null,
    startedAt: null,
    completedAt: null,
    lastActivityAt: now,
    finished: null,
    recentWriteIds: [],
  };
}

/** The parts of a record that each attempt begins with. */
const noAttempt = {
  positionOrder: null,
  progressData: null,
  progressDataOrder: null,
  variables: [],
  items: [],
};

/**
 * Returns the state after a write; the same state if the write changes nothing.
 *
 * @param facts in terms of the state's version
 * @param outline the outline of that version
 * @param now the server's time
 * @throws {LecternError} PAYLOAD_TOO_LARGE if the record grows too large
 */
export function mergeFacts(
  state: ProgressState,
  facts: Facts,
  outline: LessonOutline,
  now: Date,
): ProgressState {
  if (state.recentWriteIds.includes(facts.writeId)) return state;
  const isEarlier = facts.attempt < state.attempt;
  const merged: ProgressState = {
    ...state,
    ...(!isEarlier && mergeAttempt(state, facts, outline)),
    status: statusAfter(state.status, facts, isEarlier),
    userAttributes: latestAttributes(state.userAttributes, facts.userAttributes),
  };
  merged.finished = finishedAfter(merged, { completed: facts.completed && !isEarlier }, state, now);
  if (isSame(state, merged)) return state;
  const next: ProgressState = {
    ...merged,
    revision: state.revision + 1,
    startedAt: state.startedAt ?? (merged.status === 'not_started' ? null : now),
    completedAt: state.completedAt ?? (merged.status === 'completed' ? now : null),
    lastActivityAt: now,
    recentWriteIds: [...state.recentWriteIds, facts.writeId].slice(-keptWriteIds),
  };
  assertFits(next, state);
  return next;
}

function isSame(state: ProgressState, merged: ProgressState): boolean {
  return (Object.keys(merged) as (keyof ProgressState)[]).every((field) => merged[field] === state[field]);
}

/** Merges the facts of the record's attempt, or of a later one, which it begins. */
function mergeAttempt(state: ProgressState, facts: Facts, outline: LessonOutline): Partial<ProgressState> {
  const before: ProgressState =
    facts.attempt > state.attempt ? { ...state, ...noAttempt, attempt: facts.attempt } : state;
  const order = { at: facts.at, writeId: facts.writeId };
  const items = mergeItems(before.items, facts.items, outline);
  const { position } = facts;
  const hasMoved =
    position !== null &&
    isLater({ ...order, text: position.stepId ?? '' }, withText(before.positionOrder, before.stepId));
  const { progressData } = facts;
  const hasData =
    progressData !== undefined &&
    isLater({ ...order, text: progressData ?? '' }, withText(before.progressDataOrder, before.progressData));
  return {
    attempt: before.attempt,
    ...(items !== state.items && { ...totalPoints(outline, items), items }),
    ...(hasMoved && { ...position, positionOrder: order }),
    progressData: hasData ? progressData : before.progressData,
    progressDataOrder: hasData ? order : before.progressDataOrder,
    variables: mergeVariables(before.variables, facts),
    stepTimes: stepTimesAfter(state.stepTimes, facts, outline),
  };
}

/** A fact in the total order. Texts decide between facts of one time and write. */
type Ordered = FactOrder & { text: string };

function withText(order: FactOrder | null, text: string | null): Ordered | null {
  return order && { ...order, text: text ?? '' };
}

function isLater(fact: Ordered, other: Ordered | null): boolean {
  if (other === null) return true;
  const difference = fact.at.getTime() - other.at.getTime();
  if (difference !== 0) return difference > 0;
  return fact.writeId === other.writeId ? fact.text > other.text : fact.writeId > other.writeId;
}

function mergeItems(
  before: StoredItem[],
  facts: readonly StoredItem[],
  outline: LessonOutline,
): StoredItem[] {
  if (facts.length === 0) return before;
  const widgets = widgetsByKey(outline);
  const items = new Map(before.map((item) => [widgetKey(item.stepId, item.widgetId), item]));
  let hasChanged = false;
  for (const fact of facts) {
    const key = widgetKey(fact.stepId, fact.widgetId);
    const stored = items.get(key);
    const merged = mergeAnswer(stored, fact, widgets.get(key));
    if (merged === stored) continue;
    hasChanged = true;
    items.set(key, merged);
  }
  return hasChanged ? [...items.values()] : before;
}

/**
 * An open answer yields to a newer one, and to a right one of any age; of two right ones the older stays. A question that
 * is closed by its tries takes nothing more.
 */
function mergeAnswer(
  stored: StoredItem | undefined,
  fact: StoredItem,
  widget: OutlineWidget | undefined,
): StoredItem {
  if (stored === undefined) return { ...fact, tries: triesAfter(undefined, fact) };
  const wasRight = isRight(stored, widget);
  if (!wasRight && widget !== undefined && isClosed(widget, stored)) return stored;
  const right = isRight(fact, widget);
  const [one, other] = [orderOf(fact), orderOf(stored)];
  const replaces = right === wasRight ? (right ? isLater(other, one) : isLater(one, other)) : right;
  const tries = replaces ? triesAfter(stored, fact) : Math.max(stored.tries, fact.tries);
  if (replaces) return { ...fact, tries };
  return tries === stored.tries ? stored : { ...stored, tries };
}

function orderOf({ answeredAt, writeId, answer, score }: StoredItem): Ordered {
  return { at: answeredAt, writeId, text: `${answer}\n${score}` };
}

/** A right answer closes its question. Custom widgets decide themselves which answers they take. */
function isRight({ score, maxScore }: StoredItem, widget: OutlineWidget | undefined): boolean {
  return widget !== undefined && isClosed({ ...widget, attempts: Infinity }, { score, maxScore });
}

/** The JSON of an empty answer. */
const emptyAnswer = /^(null|""|\[\s*\]|\{\s*\})$/;

/**
 * Counts a try. The same answer counts once, and an empty answer is no try. After a time offline, players send only the
 * last answer and report the number of tries. Otherwise learners could repeat the tries that they made offline.
 */
function triesAfter(earlier: StoredItem | undefined, { answer, tries: claimed }: StoredItem): number {
  const isTry = earlier?.answer !== answer && !emptyAnswer.test(answer);
  return Math.max((earlier?.tries ?? 0) + (isTry ? 1 : 0), claimed);
}

function mergeVariables(before: StoredVariable[], { at, writeId, variables }: Facts): StoredVariable[] {
  const merged = new Map(before.map((variable) => [variable.name, variable]));
  let hasChanged = false;
  for (const { name, value } of variables) {
    const stored = merged.get(name);
    const isSuperseded = stored && !isLater({ at, writeId, text: value }, { ...stored, text: stored.value });
    if (isSuperseded) continue;
    hasChanged = true;
    merged.set(name, { name, value, at, writeId });
  }
  return hasChanged ? [...merged.values()] : before;
}

/** The status never regresses. Earlier attempts only complete it. */
function statusAfter(
  status: ProgressStatus,
  { completed, hasActed }: Pick<Facts, 'completed' | 'hasActed'>,
  isEarlier: boolean,
): ProgressStatus {
  if (completed || status === 'completed') return 'completed';
  return hasActed && !isEarlier ? 'in_progress' : status;
}

/** Of two tokens of one second, the text decides. */
function latestAttributes(
  before: StoredAttributes | null,
  given: StoredAttributes | null,
): StoredAttributes | null {
  if (before === null || given === null) return before ?? given;
  const difference = given.issuedAt - before.issuedAt;
  return difference > 0 || (difference === 0 && given.text > before.text) ? given : before;
}

/** Adds a write's active time on steps. A restart keeps it. */
function stepTimesAfter(before: number[], { stepTimes }: Facts, outline: LessonOutline): number[] {
  const added = Object.entries(stepTimes);
  if (added.length === 0) return before;
  const places = new Map(positionsOf(outline).map(({ stepId }, place) => [stepId, place]));
  const after = [...before];
  for (const [stepId, ms] of added) {
    const place = places.get(stepId);
    if (place === undefined) continue;
    while (after.length <= place) after.push(0);
    after[place] = Math.min(maxStepTimeMs, (after[place] ?? 0) + Math.round(ms));
  }
  return after;
}

/**
 * Returns the attempt that counts in gradebooks after a write: the last finished one, until another one is finished.
 * Later answers can raise its points. Nothing lowers them, neither a wrong answer nor a question of a new version.
 */
function finishedAfter(
  { attempt, score, maxScore }: Points & Pick<ProgressState, 'attempt'>,
  { completed }: { completed: boolean },
  { finished: before, attempt: attemptBefore }: ProgressState,
  now: Date,
): FinishedAttempt | null {
  const points = { score, maxScore };
  if (before?.isCurrent && attempt === attemptBefore) {
    return gradeOf(points) > gradeOf(before) ? { ...before, ...points } : before;
  }
  if (completed) return { ...points, at: now, isCurrent: true };
  return before?.isCurrent ? { ...before, isCurrent: false } : before;
}

function assertFits(next: ProgressState, before: ProgressState): void {
  const bytes = recordBytes(next);
  if (bytes <= maxRecordBytes || bytes <= recordBytes(before)) return;
  throw new LecternError(
    'PAYLOAD_TOO_LARGE',
    `Answers and state together may be at most ${maxRecordBytes} bytes, and would be ${bytes}`,
  );
}

function recordBytes({ items, variables, progressData }: ProgressState): number {
  const entries = [...items.map(({ answer }) => answer), ...variables.map(({ name, value }) => name + value)];
  return entries.reduce(
    (sum, text) => sum + entryBytes + Buffer.byteLength(text),
    Buffer.byteLength(progressData ?? ''),
  );
}
