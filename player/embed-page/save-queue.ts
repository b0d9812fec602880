import { afterWrite, bodyOf, compacted, isOfEarlierAttempt, needsOwnPosition } from './queued-write.ts';
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
  /** The number of consecutive failed requests. */
  failures: number;
  /** Unix time in milliseconds of the next request, but not before `notBefore`, the end of the backoff. */
  dueAt: number;
  notBefore: number;
  /** Milliseconds of active time, by the step's id, for the next write that is sent. */
  stepTimes?: Record<string, number> | undefined;
  /** Ids of recently saved writes, which another tab may still hand over. */
  savedIds: readonly string[];
}

/** The reason why the queue sends nothing. It still accepts changes. */
export type Hold =
  /** Another device wrote first. The learner decides where to continue. */
  | 'conflict'
  /** Another tab of this browser has taken over. */
  | 'elsewhere'
  /** The server rejected the token. */
  | 'expired'
  /** The lesson is no longer available. */
  | 'gone'
  /** The learner's data were erased: the page reloads, and removes what the browser stores. */
  | 'erased';

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

export interface Context {
  /** Unix time in milliseconds, by the server's clock as far as this tab knows it. */
  now: number;
  newId(this: void): string;
}

/** Debounce: answers within this time become one write. */
export const debounceMs = 500;
/** Characters of JSON at which a write is full. The server accepts 1 MiB. */
const maxWriteChars = 256 * 1024;
const maxAnswers = 500;
/** The number of writes at which {@link enqueue} drops superseded ones. */
const compactFrom = 100;

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

/** Adds active time on a step. */
export function addTime(queue: SaveQueue, stepId: string, activeMs: number): SaveQueue {
  const { stepTimes = {} } = queue;
  return { ...queue, stepTimes: { ...stepTimes, [stepId]: (stepTimes[stepId] ?? 0) + activeMs } };
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
  const { stepTimes } = queue;
  const write = first.sent ? first : { ...first, stepTimes, sent: true };
  const body = bodyOf(write, queue.record);
  const inFlight = { writeId: write.writeId, revision: body.revision };
  const left = { ...queue, writes: [write, ...rest], inFlight };
  return { queue: first.sent ? left : { ...left, stepTimes: undefined }, body };
}

/**
 * Takes all writes except the one in flight, for a page that may close. Each builds on the revision that the write
 * before it will create, and names that write; the server waits for earlier writes. The writes stay in the queue, because
 * their idempotency keys let it repeat them.
 */
export function takeAll(queue: SaveQueue): { queue: SaveQueue; bodies: WriteBody[] } {
  if (queue.hold !== null) return { queue, bodies: [] };
  let { record, stepTimes } = queue;
  let after: string | undefined;
  const bodies: WriteBody[] = [];
  const writes = queue.writes.map((queued) => {
    const write = queued.sent ? queued : { ...queued, stepTimes, sent: true };
    if (!queued.sent) stepTimes = undefined;
    const { writeId } = write;
    if (writeId !== queue.inFlight?.writeId)
      bodies.push({ ...bodyOf(write, record), ...(after && { after }) });
    record = afterWrite(record, write);
    after = writeId;
    return write;
  });
  return { queue: { ...queue, writes, stepTimes }, bodies };
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
 * writes to the earlier attempt: `findOutdatedWrite()` names them.
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
