import {
  inAttemptOf,
  needsOwnPosition,
  isBegunElsewhere,
  findOutdatedWrite,
  rebased,
  replacedAnswers,
  withoutRestart,
} from './queued-write.ts';
import type { KnownAnswer, QueuedWrite } from './queued-write.ts';
import { enqueue } from './save-queue.ts';
import type { Context, SaveQueue } from './save-queue.ts';
import type { StepPosition, SessionRecord } from './session-record.ts';

/** How long adopted writes wait for the record that an open tab hands over. */
export const handoverWaitMs = 500;

/** Unsaved writes of a tab that is closed or has handed over. Browsers store them, so the fields keep their names. */
export interface AbandonedSaves {
  /** The revision that the first write builds on. */
  base: number;
  /** The answers of that record that the writes replace. */
  known: KnownAnswer[];
  writes: QueuedWrite[];
}

/** Returns a tab's unsaved writes, for the next tab. */
export function abandonedSavesOf({ record, writes }: SaveQueue): AbandonedSaves {
  return { base: record.revision, known: replacedAnswers(record, writes), writes: [...writes] };
}

/**
 * Adopts other tabs' unsaved writes, ahead of this tab's own. If the learner has continued elsewhere since, later
 * answers and the position from there stay.
 *
 * @param here the position in the record
 */
export function adopt(
  queue: SaveQueue,
  abandoned: readonly AbandonedSaves[],
  here: { position: StepPosition; versionId: string },
  context: Context,
): SaveQueue {
  const known = new Set([...queue.savedIds, ...queue.writes.map(({ writeId }) => writeId)]);
  const inOrder = [...abandoned].sort((a, b) => (a.writes[0]?.at ?? 0) - (b.writes[0]?.at ?? 0));
  const adopted: QueuedWrite[] = [];
  let isBehind = false;
  let isRecordOutdated = false;
  for (const saves of inOrder) {
    const fresh = saves.writes.filter(({ writeId }) => !known.has(writeId));
    if (fresh.length === 0) continue;
    for (const { writeId } of fresh) known.add(writeId);
    isBehind = continuedElsewhere(queue.record, saves);
    isRecordOutdated ||= saves.base > queue.record.revision;
    adopted.push(...adapted(fresh, queue.record, saves, isBehind));
  }
  if (adopted.length === 0) return queue;
  const writes = [...adopted.map((write) => ({ ...write, sent: true })), ...queue.writes];
  // Another tab has saved since this page was rendered, so sending now would cause a conflict. If that tab is still open,
  // it hands over the newer record at once: wait for it briefly.
  const dueAt = context.now + (isRecordOutdated ? handoverWaitMs : 0);
  const next = { ...queue, writes, dueAt: Math.min(queue.dueAt, dueAt) };
  const goesBack = isBehind && queue.writes.length === 0;
  return goesBack ? enqueue(next, { position: here.position }, here.versionId, context) : next;
}

/** Returns the part of another tab's writes that still applies to a record. */
function adapted(
  writes: readonly QueuedWrite[],
  record: SessionRecord,
  saves: AbandonedSaves,
  isBehind: boolean,
): QueuedWrite[] {
  if (record.revision === saves.base) return [...writes];
  const kept = rebased(writes, record, saves.known);
  if (!othersWrote(record, saves)) return kept;
  const ours = inAttemptOf(kept, record);
  return isBehind ? ours.map(withoutState).filter(isUseful) : ours;
}

/** Returns the first write that {@link adopt} drops because the learner has restarted elsewhere since; undefined for none. */
export function findOutdatedSave(
  { record, savedIds }: SaveQueue,
  abandoned: readonly AbandonedSaves[],
): QueuedWrite | undefined {
  const behind = abandoned.filter((saves) => othersWrote(record, saves)).flatMap(({ writes }) => writes);
  return findOutdatedWrite(
    behind.filter(({ writeId }) => !savedIds.includes(writeId)),
    record,
  );
}

/** Returns whether the record contains writes of others. */
function othersWrote(record: SessionRecord, { base, writes }: AbandonedSaves): boolean {
  const ours = writes.filter(({ sent }) => sent).length;
  return record.revision > base + ours || isBegunElsewhere(writes, record);
}

/** Returns whether the learner continued elsewhere after these writes. */
function continuedElsewhere(record: SessionRecord, saves: AbandonedSaves): boolean {
  return othersWrote(record, saves) && Date.parse(record.lastActivityAt) > (saves.writes.at(-1)?.at ?? 0);
}

function withoutState(write: QueuedWrite): QueuedWrite {
  const { variables, setVariables } = write;
  return {
    ...withoutRestart(write),
    progressData: null,
    variables: setVariables.length > 0 ? variables : null,
  };
}

function isUseful(write: QueuedWrite): boolean {
  return needsOwnPosition(write) || write.setVariables.length > 0;
}
