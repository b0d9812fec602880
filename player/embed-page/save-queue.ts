import { backoffMs } from '../../shared/platform/backoff.ts';
import {
  afterWrite,
  bodyOf,
  compacted,
  continued,
  divided,
  holdsPlace,
  isBegunElsewhere,
  isOfEarlierAttempt,
  outdatedWrite,
  rebased,
} from './queued-write.ts';
import type { QueuedAnswer, QueuedWrite, WriteBody } from './queued-write.ts';
import type { JsonObject, Place, SessionRecord } from './session-record.ts';

/**
 * What is to be saved, in which order, and what each answer of the server leads to. Pure: it knows neither clock nor
 * network nor storage, and nothing changes a queue in place.
 */
export interface SaveQueue {
  /** As the server has it, as far as we know. */
  record: SessionRecord;
  /** The first goes first. */
  writes: readonly QueuedWrite[];
  /** The write on its way, and the revision that it was made for. */
  inFlight: { writeId: string; revision: number } | null;
  hold: Hold | null;
  /** Tries that failed in a row. */
  failures: number;
  /** Unix time in milliseconds at which there is a reason to send; none before `notBefore`. */
  dueAt: number;
  notBefore: number;
  /** Ids of writes that were saved lately: another tab may hand them over once more. */
  savedIds: readonly string[];
}

/** Why nothing is sent. Changes are taken all the same. */
export type Hold =
  /** Somebody else wrote, on another device. The learner says where to go on. */
  | 'conflict'
  /** Another tab of this browser has taken over. */
  | 'elsewhere'
  /** The token is not accepted any more. */
  | 'expired'
  /** The lesson is not to be had any more. */
  | 'gone';

/** What the learner did. */
export interface Change {
  /** Of the step that it belongs to. */
  place: Place;
  answer?: Omit<QueuedAnswer, 'at'>;
  /** Milliseconds since the learner did it; 0 unless given. Widgets may report an answer later. */
  age?: number;
  progressData?: JsonObject;
  /** All variables. */
  variables?: JsonObject;
  /** The name of the one that was set. */
  setVariable?: string;
  completed?: boolean;
  restart?: boolean;
}

/** What came of sending a write. */
export type Answer =
  | { kind: 'saved' | 'conflict'; record: SessionRecord }
  | { kind: 'expired' | 'gone' | 'refused' }
  /** @param retryAfter milliseconds that the server asks for; 0 when it does not. */
  | { kind: 'failed'; retryAfter: number };

export interface Context {
  /** Unix time in milliseconds, by the server's clock as far as it is known. */
  now: number;
  newId(this: void): string;
}

/** Debounce of answers, in milliseconds: those within this time become one write. */
export const answerDelay = 500;
/** Between tries, and the longest pause that the server may ask for, in milliseconds. */
const backoff = { firstMs: 1000, maxMs: 60_000 };
const longestRetryAfter = 600_000;
/** A write that is longer, in characters of JSON, is not added to: the server takes 1 MiB. */
const fullWrite = 256 * 1024;
const maxAnswers = 500;
/** From this many on, writes that others make needless are left out. */
const manyWrites = 100;
const keptSavedIds = 100;

export function emptyQueue(record: SessionRecord): SaveQueue {
  const idle = { inFlight: null, hold: null, failures: 0, dueAt: Infinity, notBefore: 0 };
  return { ...idle, record, writes: [], savedIds: [] };
}

/** Whether the learner has finished the lesson, be it saved or not. */
export function isCompleted({ record, writes }: SaveQueue): boolean {
  return record.status === 'completed' || writes.some(({ completed }) => completed);
}

/** Takes a change. Those of one step become one write, as long as it was not sent. */
export function enqueue(queue: SaveQueue, change: Change, versionId: string, context: Context): SaveQueue {
  const last = queue.writes.at(-1);
  const isMore = last !== undefined && canTake(last, change, versionId);
  const next = withChange(isMore ? last : newWrite(queue, change, versionId), change, context);
  const writes = [...queue.writes.slice(0, isMore ? -1 : undefined), next];
  const dueAt = isUrgent(change) ? context.now : context.now + answerDelay;
  return {
    ...queue,
    writes: writes.length >= manyWrites ? compacted(writes) : writes,
    dueAt: Math.min(queue.dueAt, dueAt),
  };
}

/** Answers are gathered. A first look, a place alone, waits as long: it makes way for the pictures of the step. */
function isUrgent({ answer, setVariable, progressData, restart }: Change): boolean {
  if (answer !== undefined || setVariable !== undefined) return false;
  return progressData !== undefined || restart === true;
}

/** Milliseconds until there is something to send: 0 for at once, null when nothing will be without a change. */
export function waitTime(queue: SaveQueue, now: number): number | null {
  if (queue.inFlight !== null || queue.hold !== null || queue.writes.length === 0) return null;
  return Math.max(0, Math.max(queue.dueAt, queue.notBefore) - now);
}

/** Takes the first write to send it. From here on it is not added to. */
export function takeNext(queue: SaveQueue): { queue: SaveQueue; body: WriteBody } | undefined {
  const [first, ...rest] = queue.writes;
  if (first === undefined) return undefined;
  const body = bodyOf(first, queue.record);
  const inFlight = { writeId: first.writeId, revision: body.revision };
  return { queue: { ...queue, writes: [{ ...first, sent: true }, ...rest], inFlight }, body };
}

/**
 * All writes but the one on its way, each for the revision that is to be expected, for a page that is about to go. One
 * that comes too early waits at the server for those before it. They stay in the queue: sent again they change nothing.
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
 * What the answer to the write on its way leads to.
 *
 * @param random from 0 to 1: browsers that failed together do not come back together
 * @returns the write that had to be given up, where there is one
 */
export function answered(
  queue: SaveQueue,
  answer: Answer,
  context: Context & { random: number },
): { queue: SaveQueue; lost?: QueuedWrite } {
  const { inFlight } = queue;
  if (inFlight === null) return { queue };
  const idle = { ...queue, inFlight: null };
  switch (answer.kind) {
    case 'saved':
      return withGivenUp(idle, afterSaved(idle, inFlight, answer.record));
    case 'conflict':
      return withGivenUp(idle, afterConflict(idle, answer.record));
    case 'expired':
    case 'gone':
      return { queue: { ...idle, hold: idle.hold ?? answer.kind } };
    case 'failed':
      return { queue: afterFailure(idle, answer.retryAfter, context) };
    case 'refused':
      return afterRefusal(idle, inFlight.writeId, context);
  }
}

/** Sends without a further wait: the network is back, or the page is about to be hidden. */
export function hurry(queue: SaveQueue, now: number): SaveQueue {
  return { ...queue, dueAt: Math.min(queue.dueAt, now), notBefore: Math.min(queue.notBefore, now) };
}

/** Another tab goes on. */
export function handOver(queue: SaveQueue): SaveQueue {
  return { ...queue, hold: 'elsewhere' };
}

/** A new token is there. */
export function renewed(queue: SaveQueue, now: number): SaveQueue {
  return queue.hold === 'expired' ? hurry({ ...queue, hold: null, failures: 0 }, now) : queue;
}

/** The learner goes on here after a conflict, at the step that is shown. */
export function goOnHere(queue: SaveQueue, place: Place, versionId: string, context: Context): SaveQueue {
  if (queue.hold !== 'conflict') return queue;
  return enqueue({ ...queue, hold: null, failures: 0, notBefore: 0 }, { place }, versionId, context);
}

/**
 * What the server has, as another tab of this browser knows it. Where the learner has started again in that one, writes
 * to the attempt before are left out: see {@link outdatedWrite}.
 */
export function catchUp(queue: SaveQueue, record: SessionRecord): SaveQueue {
  const { revision, attempt } = record;
  if (revision <= queue.record.revision) return queue;
  // Places in another version mean nothing in this one.
  const isSameVersion = record.versionId === queue.record.versionId;
  return {
    ...queue,
    record: isSameVersion ? record : { ...queue.record, revision, ...(attempt !== undefined && { attempt }) },
    writes: queue.writes.filter((write) => !isOfEarlierAttempt(write, record)),
  };
}

function canTake(last: QueuedWrite, { place, answer, restart }: Change, versionId: string): boolean {
  if (last.sent || restart === true || last.versionId !== versionId) return false;
  if (last.place.stepId !== place.stepId && holdsPlace(last)) return false;
  if (answer === undefined) return true;
  return last.answers.length < maxAnswers && JSON.stringify([last, answer]).length <= fullWrite;
}

/** What a change makes a write. */
function newWrite(
  { record, writes }: SaveQueue,
  { place, restart }: Change,
  versionId: string,
): Omit<QueuedWrite, 'writeId' | 'at'> {
  const last = writes.length === 0 ? record.attempt : writes.at(-1)?.attempt;
  return {
    versionId,
    attempt: last === undefined || restart !== true ? last : last + 1,
    place,
    answers: [],
    progressData: null,
    variables: null,
    setVariables: [],
    completed: false,
    restart: false,
    sent: false,
  };
}

/** It gets another id, for another tab may have taken the write over as it was before, and two ids are two writes. */
function withChange(
  write: Omit<QueuedWrite, 'writeId' | 'at'> & { at?: number },
  change: Change,
  { now, newId }: Context,
): QueuedWrite {
  const { answer, age = 0, setVariable } = change;
  const at = now - age;
  const others = write.answers.filter(({ widgetId }) => widgetId !== answer?.widgetId);
  return {
    ...write,
    writeId: newId(),
    place: change.place,
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
    savedIds: [...queue.savedIds, writeId].slice(-keptSavedIds),
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
  // Two who open a lesson for the first time at once have done nothing yet that could be in conflict.
  if (record.status === 'not_started' && queue.writes.every(isLook)) return { ...queue, record, writes: [] };
  return {
    ...queue,
    record,
    writes: continued(rebased(queue.writes, record, before.record.items ?? [], before.writes), record),
    failures: 0,
    hold: queue.hold ?? 'conflict',
  };
}

function afterFailure(
  queue: SaveQueue,
  retryAfter: number,
  { now, random }: Context & { random: number },
): SaveQueue {
  const retryAfterMs = Math.min(longestRetryAfter, retryAfter);
  const pause = backoffMs(backoff, queue.failures, { retryAfterMs, random });
  return { ...queue, failures: queue.failures + 1, notBefore: now + pause };
}

function afterRefusal(
  queue: SaveQueue,
  writeId: string,
  { newId }: Context,
): { queue: SaveQueue; lost?: QueuedWrite } {
  const refused = queue.writes.find((write) => write.writeId === writeId);
  const parts = refused === undefined ? null : divided(refused, newId);
  const writes = queue.writes.flatMap((write) => (write.writeId === writeId ? (parts ?? []) : write));
  const dueAt = writes.length === 0 ? Infinity : queue.dueAt;
  const next = { ...queue, writes, failures: 0, dueAt };
  return parts === null && refused !== undefined ? { queue: next, lost: refused } : { queue: next };
}

/** Names the answer that a later attempt, begun elsewhere, leaves out. */
function withGivenUp(before: SaveQueue, queue: SaveQueue): { queue: SaveQueue; lost?: QueuedWrite } {
  const lost = queue.hold === before.hold ? undefined : outdatedWrite(before.writes, queue.record);
  return lost === undefined ? { queue } : { queue, lost };
}

function isLook(write: QueuedWrite): boolean {
  return !holdsPlace(write) && !write.restart && write.progressData === null && write.variables === null;
}
