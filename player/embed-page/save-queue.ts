import { backoffMs } from '../../shared/platform/backoff.ts';
import {
  afterWrite,
  bodyOf,
  compacted,
  inAttemptOf,
  split,
  needsOwnPosition,
  isBegunElsewhere,
  isOfEarlierAttempt,
  findOutdatedWrite,
  rebased,
} from './queued-write.ts';
import type { QueuedAnswer, QueuedWrite, WriteBody } from './queued-write.ts';
import type { JsonObject, StepPosition, SessionRecord } from './session-record.ts';

/**
 * The unsaved writes of a learner, in order. The functions of this file are pure: they use no clock, network or storage,
 * and return new queues. Each write has an idempotency key (`writeId`), and builds on a revision of the record: the
 * server rejects it with a conflict if another device wrote first (optimistic concurrency).
 */
export interface SaveQueue {
  /** The server's record, as far as this tab knows. */
  record: SessionRecord;
  /** In the order of sending. */
  writes: readonly QueuedWrite[];
  /** The write that awaits its response, and the revision it builds on. */
  inFlight: { writeId: string; revision: number } | null;
  hold: Hold | null;
  /** Failed requests in a row. */
  failures: number;
  /** Unix time in milliseconds of the next request, but not before `notBefore`, the end of the backoff. */
  dueAt: number;
  notBefore: number;
  /** Ids of recently saved writes, which another tab may still hand over. */
  savedIds: readonly string[];
}

/** Why the queue sends nothing. It still accepts changes. */
export type Hold =
  /** Another device wrote first. The learner decides where to continue. */
  | 'conflict'
  /** Another tab of this browser has taken over. */
  | 'elsewhere'
  /** The server rejected the token. */
  | 'expired'
  /** The lesson is no longer available. */
  | 'gone';

/** A learner's action. */
export interface Change {
  /** The step of the action. */
  position: StepPosition;
  answer?: Omit<QueuedAnswer, 'at'>;
  /** Milliseconds since the action, 0 by default. Widgets may report an answer later. */
  ageMs?: number;
  progressData?: JsonObject;
  /** All variables. */
  variables?: JsonObject;
  /** The variable that the action set. */
  setVariable?: string;
  completed?: boolean;
  restart?: boolean;
}

/** The outcome of a write's request. */
export type WriteResponse =
  | { kind: 'saved' | 'conflict'; record: SessionRecord }
  | { kind: 'expired' | 'gone' | 'rejected' }
  /** @param retryAfterMs the delay in the server's Retry-After header, or 0 */
  | { kind: 'failed'; retryAfterMs: number };

export interface Context {
  /** Unix time in milliseconds, by the server's clock as far as this tab knows it. */
  now: number;
  newId(this: void): string;
}

/** Debounce: answers within this time become one write. */
export const debounceMs = 500;
const backoff = { firstMs: 1000, maxMs: 60_000 };
/** The longest Retry-After delay that the queue accepts. */
const maxRetryAfterMs = 600_000;
/** Characters of JSON at which a write is full. The server accepts 1 MiB. */
const maxWriteChars = 256 * 1024;
const maxAnswers = 500;
/** The number of writes at which {@link enqueue} drops superseded ones. */
const compactFrom = 100;
const maxSavedIds = 100;

export function emptyQueue(record: SessionRecord): SaveQueue {
  const idle = { inFlight: null, hold: null, failures: 0, dueAt: Infinity, notBefore: 0 };
  return { ...idle, record, writes: [], savedIds: [] };
}

/** Returns whether the learner has completed the lesson, saved or not. */
export function isCompleted({ record, writes }: SaveQueue): boolean {
  return record.status === 'completed' || writes.some(({ completed }) => completed);
}

/** Adds a change. Changes of one step become one write, unless that was sent already. */
export function enqueue(queue: SaveQueue, change: Change, versionId: string, context: Context): SaveQueue {
  const last = queue.writes.at(-1);
  const isMore = last !== undefined && canTake(last, change, versionId);
  const next = withChange(isMore ? last : newWrite(queue, change, versionId), change, context);
  const writes = [...queue.writes.slice(0, isMore ? -1 : undefined), next];
  const dueAt = isUrgent(change) ? context.now : context.now + debounceMs;
  return {
    ...queue,
    writes: writes.length >= compactFrom ? compacted(writes) : writes,
    dueAt: Math.min(queue.dueAt, dueAt),
  };
}

/** Answers are debounced. So is a first view, to let the pictures of the step load first. */
function isUrgent({ answer, setVariable, progressData, restart }: Change): boolean {
  if (answer !== undefined || setVariable !== undefined) return false;
  return progressData !== undefined || restart === true;
}

/** Returns the milliseconds until the next request; null if there is none before the queue changes. */
export function waitMs(queue: SaveQueue, now: number): number | null {
  if (queue.inFlight !== null || queue.hold !== null || queue.writes.length === 0) return null;
  return Math.max(0, Math.max(queue.dueAt, queue.notBefore) - now);
}

/** Takes the first write for a request. {@link enqueue} adds nothing to it from now on. */
export function takeNext(queue: SaveQueue): { queue: SaveQueue; body: WriteBody } | undefined {
  const [first, ...rest] = queue.writes;
  if (first === undefined) return undefined;
  const body = bodyOf(first, queue.record);
  const inFlight = { writeId: first.writeId, revision: body.revision };
  return { queue: { ...queue, writes: [{ ...first, sent: true }, ...rest], inFlight }, body };
}

/**
 * Takes all writes except the one in flight, for a page that may close. Each builds on the revision that the write
 * before it will create; the server waits for earlier writes. The writes stay in the queue, because their idempotency
 * keys let it repeat them.
 */
export function takeAll(queue: SaveQueue): { queue: SaveQueue; bodies: WriteBody[] } {
  if (queue.hold !== null) return { queue, bodies: [] };
  let { record } = queue;
  const bodies: WriteBody[] = [];
  for (const write of queue.writes) {
    if (write.writeId !== queue.inFlight?.writeId) bodies.push(bodyOf(write, record));
    record = afterWrite(record, write);
  }
  return { queue: { ...queue, writes: queue.writes.map((write) => ({ ...write, sent: true })) }, bodies };
}

/**
 * Applies the response to the write in flight.
 *
 * @param context.random from 0 to 1: the jitter of the backoff
 * @returns `lost`, the write that the queue has dropped, if any
 */
export function afterResponse(
  queue: SaveQueue,
  response: WriteResponse,
  context: Context & { random: number },
): { queue: SaveQueue; lost?: QueuedWrite } {
  const { inFlight } = queue;
  if (inFlight === null) return { queue };
  const idle = { ...queue, inFlight: null };
  switch (response.kind) {
    case 'saved':
      return withLost(idle, afterSaved(idle, inFlight, response.record));
    case 'conflict':
      return withLost(idle, afterConflict(idle, response.record));
    case 'expired':
    case 'gone':
      return { queue: { ...idle, hold: idle.hold ?? response.kind } };
    case 'failed':
      return { queue: afterFailure(idle, response.retryAfterMs, context) };
    case 'rejected':
      return afterRejection(idle, inFlight.writeId, context);
  }
}

/** Ends debounce and backoff: the network is back, or the page is about to be hidden. */
export function skipWait(queue: SaveQueue, now: number): SaveQueue {
  return { ...queue, dueAt: Math.min(queue.dueAt, now), notBefore: Math.min(queue.notBefore, now) };
}

/** Stops sending, because another tab continues. */
export function handOver(queue: SaveQueue): SaveQueue {
  return { ...queue, hold: 'elsewhere' };
}

/** Resumes sending with a new token. */
export function renewed(queue: SaveQueue, now: number): SaveQueue {
  return queue.hold === 'expired' ? skipWait({ ...queue, hold: null, failures: 0 }, now) : queue;
}

/** Resumes sending after a conflict, at the step that this tab shows. */
export function continueHere(
  queue: SaveQueue,
  position: StepPosition,
  versionId: string,
  context: Context,
): SaveQueue {
  if (queue.hold !== 'conflict') return queue;
  return enqueue({ ...queue, hold: null, failures: 0, notBefore: 0 }, { position }, versionId, context);
}

/**
 * Adopts the server's record as another tab of this browser knows it. If the learner has restarted there, it drops
 * writes to the earlier attempt: {@link findOutdatedWrite} names them.
 */
export function catchUp(queue: SaveQueue, record: SessionRecord): SaveQueue {
  const { revision, attempt } = record;
  if (revision <= queue.record.revision) return queue;
  // Positions in another version mean nothing in this one.
  const isSameVersion = record.versionId === queue.record.versionId;
  return {
    ...queue,
    record: isSameVersion ? record : { ...queue.record, revision, ...(attempt !== undefined && { attempt }) },
    writes: queue.writes.filter((write) => !isOfEarlierAttempt(write, record)),
  };
}

function canTake(last: QueuedWrite, { position, answer, restart }: Change, versionId: string): boolean {
  if (last.sent || restart === true || last.versionId !== versionId) return false;
  if (last.place.stepId !== position.stepId && needsOwnPosition(last)) return false;
  if (answer === undefined) return true;
  return last.answers.length < maxAnswers && JSON.stringify([last, answer]).length <= maxWriteChars;
}

function newWrite(
  { record, writes }: SaveQueue,
  { position, restart }: Change,
  versionId: string,
): Omit<QueuedWrite, 'writeId' | 'at'> {
  const last = writes.length === 0 ? record.attempt : writes.at(-1)?.attempt;
  return {
    versionId,
    attempt: last === undefined || restart !== true ? last : last + 1,
    place: position,
    answers: [],
    progressData: null,
    variables: null,
    setVariables: [],
    completed: false,
    restart: false,
    sent: false,
  };
}

/** The write gets a new idempotency key, because another tab may have adopted it as it was before the change. */
function withChange(
  write: Omit<QueuedWrite, 'writeId' | 'at'> & { at?: number },
  change: Change,
  { now, newId }: Context,
): QueuedWrite {
  const { answer, ageMs = 0, setVariable } = change;
  const at = now - ageMs;
  const others = write.answers.filter(({ widgetId }) => widgetId !== answer?.widgetId);
  return {
    ...write,
    writeId: newId(),
    place: change.position,
    at: Math.max(at, write.at ?? at),
    answers: answer === undefined ? write.answers : [...others, { ...answer, at }],
    progressData: change.progressData ?? write.progressData,
    variables: change.variables ?? write.variables,
    setVariables:
      setVariable === undefined ? write.setVariables : [...new Set([...write.setVariables, setVariable])],
    completed: write.completed || change.completed === true,
    restart: write.restart || change.restart === true,
  };
}

function afterSaved(
  queue: SaveQueue,
  { writeId, revision }: { writeId: string; revision: number },
  record: SessionRecord,
): SaveQueue {
  const ours = queue.writes.filter(({ sent }) => sent).length;
  const writes = queue.writes.filter((write) => write.writeId !== writeId);
  const saved = {
    ...queue,
    record: record.revision >= queue.record.revision ? record : queue.record,
    writes,
    failures: 0,
    notBefore: 0,
    dueAt: writes.length === 0 ? Infinity : queue.dueAt,
    savedIds: [...queue.savedIds, writeId].slice(-maxSavedIds),
  };
  // The reply to a write that is sent again holds the record as it is now, with writes of other devices. The server
  // ignores a write of an attempt that another device has ended, however few writes that device has made since.
  const othersWrote = record.revision > revision + ours || isBegunElsewhere(queue.writes, record);
  return othersWrote ? afterConflict(saved, record, queue) : saved;
}

function afterConflict(
  queue: SaveQueue,
  record: SessionRecord,
  before: Pick<SaveQueue, 'record' | 'writes'> = queue,
): SaveQueue {
  // Two tabs that open a new lesson at the same time have nothing yet that could conflict.
  if (record.status === 'not_started' && queue.writes.every(isFirstView))
    return { ...queue, record, writes: [] };
  return {
    ...queue,
    record,
    writes: inAttemptOf(rebased(queue.writes, record, before.record.items ?? [], before.writes), record),
    failures: 0,
    hold: queue.hold ?? 'conflict',
  };
}

function afterFailure(
  queue: SaveQueue,
  requestedMs: number,
  { now, random }: Context & { random: number },
): SaveQueue {
  const retryAfterMs = Math.min(maxRetryAfterMs, requestedMs);
  const pauseMs = backoffMs(backoff, queue.failures, { retryAfterMs, random });
  return { ...queue, failures: queue.failures + 1, notBefore: now + pauseMs };
}

function afterRejection(
  queue: SaveQueue,
  writeId: string,
  { newId }: Context,
): { queue: SaveQueue; lost?: QueuedWrite } {
  const rejected = queue.writes.find((write) => write.writeId === writeId);
  const parts = rejected === undefined ? null : split(rejected, newId);
  const writes = queue.writes.flatMap((write) => (write.writeId === writeId ? (parts ?? []) : write));
  const dueAt = writes.length === 0 ? Infinity : queue.dueAt;
  const next = { ...queue, writes, failures: 0, dueAt };
  return parts === null && rejected !== undefined ? { queue: next, lost: rejected } : { queue: next };
}

/** Adds the write that was lost because the learner began a later attempt elsewhere. */
function withLost(before: SaveQueue, queue: SaveQueue): { queue: SaveQueue; lost?: QueuedWrite } {
  const lost = queue.hold === before.hold ? undefined : findOutdatedWrite(before.writes, queue.record);
  return lost === undefined ? { queue } : { queue, lost };
}

function isFirstView(write: QueuedWrite): boolean {
  return (
    !needsOwnPosition(write) && !write.restart && write.progressData === null && write.variables === null
  );
}
