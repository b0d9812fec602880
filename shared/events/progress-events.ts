import type { ProgressState, StoredItem } from '../progress/state.ts';
import { widgetKey } from '../progress/outline.ts';

/** The changes of a learner's record that each have their own event type. */
export const progressChanges = ['started', 'scored', 'completed'] as const;
export type ProgressChange = (typeof progressChanges)[number];

/** The learner's result after a write. */
export type ProgressSnapshot = Pick<
  ProgressState,
  'revision' | 'attempt' | 'versionId' | 'status' | 'score' | 'maxScore' | 'completedAt'
>;

/** Whose record it is. */
export type EventOwner = {
  recordId: string;
  organizationId: string;
  lessonId: string;
} & ({ learnerId: string } | { ltiUserId: string; platformId: string; contextId: string | null });

/** A write to a learner's record, for xAPI statements. */
export interface WriteEvent extends Pick<
  ProgressSnapshot,
  'revision' | 'attempt' | 'versionId' | 'score' | 'maxScore'
> {
  at: Date;
  details: WriteDetails;
}

/** What happened in a write. */
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

/** The minimum time between two `progress.updated` events of a learner. */
const updateIntervalMs = 60_000;

/** Longer than a write takes: until then before it is sent, a `progress.updated` is sure to report a write. */
const writeMs = 20_000;

/**
 * Returns when the `progress.updated` that reports a write is due.
 *
 * @param due the time of the last one, which reports what the record contains then; null before the first.
 */
export function nextUpdateAt(due: Date | null, now: Date): Date {
  if (due === null || due.getTime() + updateIntervalMs < now.getTime()) return now;
  return due.getTime() - writeMs > now.getTime() ? due : new Date(due.getTime() + updateIntervalMs);
}

export function snapshotOf(state: ProgressSnapshot): ProgressSnapshot {
  const { revision, attempt, versionId, status, score, maxScore, completedAt } = state;
  return { revision, attempt, versionId, status, score, maxScore, completedAt };
}

/** Returns the changes between two states of a record that have their own events. */
export function changesOf(before: ProgressState, next: ProgressState): ProgressChange[] {
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
export function detailsOf(before: ProgressState, next: ProgressState): WriteDetails | null {
  const began = (before.startedAt === null && next.startedAt !== null) || before.attempt !== next.attempt;
  let room = maxAnswersCharacters;
  // A page that closes may send an answer twice, under two ids.
  const contentOf = ({ answer, score, tries }: StoredItem) => JSON.stringify([answer, score, tries]);
  const known = new Map(before.items.map((item) => [widgetKey(item.stepId, item.widgetId), contentOf(item)]));
  const answers = next.items
    .filter((item) => known.get(widgetKey(item.stepId, item.widgetId)) !== contentOf(item))
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
