import { Schema } from 'mongoose';
import { widgetKey } from '../progress/outline.ts';
import type { ProgressState, StoredItem } from '../progress/state.ts';
import { indexPendingEvents, pendingEventFields } from './pending-events.ts';
import type { PendingEvent, PendingEvents } from './pending-events.ts';

/** The changes of a learner's record that each have their own event type. */
export const progressChanges = ['started', 'scored', 'completed'] as const;
export type ProgressChange = (typeof progressChanges)[number];

/** The learner's result after a write. */
export type ProgressSnapshot = Pick<
  ProgressState,
  'revision' | 'attempt' | 'versionId' | 'status' | 'score' | 'maxScore' | 'completedAt'
>;

/** A write to a learner's record that webhooks report to integrators. Its id is the revision. */
export interface ProgressEvent extends PendingEvent, ProgressSnapshot {
  changes: ProgressChange[];
  /** Missing if the organization has no xAPI destination. */
  details?: WriteDetails;
}

/** The details of a write that xAPI statements need. */
export interface WriteDetails {
  /** Whether it begins an attempt. */
  began: boolean;
  finished: boolean;
  hasMoved: boolean;
  stepId: string | null;
  answers: RecordedAnswer[];
}

/** An answer of a write. */
export interface RecordedAnswer extends Pick<StoredItem, 'stepId' | 'widgetId' | 'score' | 'maxScore'> {
  /** JSON text; null if it is long. */
  answer: string | null;
}

/** The fields of progress records for events. */
export interface ProgressEventFields extends PendingEvents<ProgressEvent> {
  /** The last `progress.updated`. Missing before the first. */
  announced?: { revision: number; at: Date };
}

/** The schema fields. */
export const progressEventFields = {
  ...pendingEventFields,
  announced: {
    type: new Schema({ revision: Number, at: Date }, { _id: false, strict: 'throw' }),
    default: undefined,
  },
} as const;

export const indexProgressEvents = indexPendingEvents;

/** The changes that an organization's webhooks and xAPI destinations need. */
export interface WantedProgress {
  changes: ReadonlySet<ProgressChange>;
  /** Every write, as `progress.updated`. */
  updates: boolean;
  /** The details of each write, for xAPI statements. */
  details: boolean;
}

/** The event data that a write adds to its record: an event, a time at which a worker reads the record, or both. */
export interface RecordedEvent {
  event: ProgressEvent | null;
  dueAt: Date;
}

/** The minimum time between two `progress.updated` events of a learner. */
export const updateIntervalMs = 60_000;

/**
 * Returns the event data that a write adds to its record; null if no subscription needs any.
 *
 * @param before the state that the write changed.
 * @param announcedAt the time of the record's last `progress.updated`.
 */
export function recordedEvent(
  wanted: WantedProgress,
  before: ProgressState,
  next: ProgressState,
  announcedAt: Date | null,
): RecordedEvent | null {
  const at = next.lastActivityAt;
  const changes = changesOf(before, next).filter((change) => wanted.changes.has(change));
  const details = wanted.details ? detailsOf(before, next) : null;
  if (changes.length > 0 || details !== null) {
    const event = { id: String(next.revision), at, changes, ...snapshotOf(next) };
    return { event: details === null ? event : { ...event, details }, dueAt: at };
  }
  if (!wanted.updates) return null;
  const earliest = announcedAt === null ? 0 : announcedAt.getTime() + updateIntervalMs;
  return { event: null, dueAt: new Date(Math.max(at.getTime(), earliest)) };
}

export function snapshotOf(state: ProgressSnapshot): ProgressSnapshot {
  const { revision, attempt, versionId, status, score, maxScore, completedAt } = state;
  return { revision, attempt, versionId, status, score, maxScore, completedAt };
}

function changesOf(before: ProgressState, next: ProgressState): ProgressChange[] {
  const changes: ProgressChange[] = [];
  if (before.startedAt === null && next.startedAt !== null) changes.push('started');
  if (next.score !== null && (next.score !== before.score || next.maxScore !== before.maxScore)) {
    changes.push('scored');
  }
  if (hasFinished(before, next)) changes.push('completed');
  return changes;
}

/** A restart and another finish complete the lesson again. */
function hasFinished(before: ProgressState, next: ProgressState): boolean {
  return next.finished !== null && next.finished.at.getTime() !== before.finished?.at.getTime();
}

/** Statements omit longer answers, and those of a write above the second limit. */
const maxAnswerCharacters = 4096;
const maxAnswersCharacters = 65_536;

/** Returns null for a write that changes nothing that statements report. */
function detailsOf(before: ProgressState, next: ProgressState): WriteDetails | null {
  const began = (before.startedAt === null && next.startedAt !== null) || before.attempt !== next.attempt;
  let room = maxAnswersCharacters;
  const writes = new Map(before.items.map((item) => [widgetKey(item.stepId, item.widgetId), item.writeId]));
  const answers = next.items
    .filter((item) => writes.get(widgetKey(item.stepId, item.widgetId)) !== item.writeId)
    .map(({ stepId, widgetId, score, maxScore, answer }) => {
      const isShort = answer.length <= Math.min(maxAnswerCharacters, room);
      if (isShort) room -= answer.length;
      return { stepId, widgetId, score, maxScore, answer: isShort ? answer : null };
    });
  const finished = hasFinished(before, next);
  const hasMoved = before.stepId !== next.stepId;
  if (!began && !finished && !hasMoved && answers.length === 0) return null;
  return { began, finished, hasMoved, stepId: next.stepId, answers };
}
