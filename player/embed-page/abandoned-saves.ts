import {
  continued,
  holdsPlace,
  isBegunElsewhere,
  outdatedWrite,
  rebased,
  replacedAnswers,
  withoutRestart,
} from './queued-write.ts';
import type { KnownAnswer, QueuedWrite } from './queued-write.ts';
import { enqueue } from './save-queue.ts';
import type { Context, SaveQueue } from './save-queue.ts';
import type { Place, SessionRecord } from './session-record.ts';

/** What was left by a tab that is gone or has handed over. */
export interface Leftover {
  /** The revision that its first write was made for. */
  base: number;
  /** The answers in that record that the writes replace. */
  known: KnownAnswer[];
  writes: QueuedWrite[];
}

/** What is not saved yet, for the next tab. */
export function leftoverOf({ record, writes }: SaveQueue): Leftover {
  return { base: record.revision, known: replacedAnswers(record, writes), writes: [...writes] };
}

/**
 * Takes over what other tabs left. It goes before our own writes. Where the learner went on elsewhere since, answers
 * that were given later there stay, and so does the place.
 *
 * @param here where the record says that the learner is
 */
export function adopt(
  queue: SaveQueue,
  leftovers: readonly Leftover[],
  here: { place: Place; versionId: string },
  context: Context,
): SaveQueue {
  const known = new Set([...queue.savedIds, ...queue.writes.map(({ writeId }) => writeId)]);
  const inOrder = leftovers.toSorted((a, b) => (a.writes[0]?.at ?? 0) - (b.writes[0]?.at ?? 0));
  const adopted: QueuedWrite[] = [];
  let isBehind = false;
  for (const leftover of inOrder) {
    const fresh = leftover.writes.filter(({ writeId }) => !known.has(writeId));
    if (fresh.length === 0) continue;
    for (const { writeId } of fresh) known.add(writeId);
    isBehind = wentOnSince(queue.record, leftover);
    adopted.push(...fitted(fresh, queue.record, leftover, isBehind));
  }
  if (adopted.length === 0) return queue;
  const writes = [...adopted.map((write) => ({ ...write, sent: true })), ...queue.writes];
  const next = { ...queue, writes, dueAt: Math.min(queue.dueAt, context.now) };
  const goesBack = isBehind && queue.writes.length === 0;
  return goesBack ? enqueue(next, { place: here.place }, here.versionId, context) : next;
}

/** What is left to save of writes that another tab made, on a record that may have changed since. */
function fitted(
  writes: readonly QueuedWrite[],
  record: SessionRecord,
  leftover: Leftover,
  isBehind: boolean,
): QueuedWrite[] {
  if (record.revision === leftover.base) return [...writes];
  const kept = rebased(writes, record, leftover.known);
  if (!othersWrote(record, leftover)) return kept;
  const ours = continued(kept, record);
  return isBehind ? ours.map(withoutState).filter(isOfUse) : ours;
}

/** The first answer that {@link adopt} leaves out because the learner has started again elsewhere since. */
export function outdatedLeftover(
  { record, savedIds }: SaveQueue,
  leftovers: readonly Leftover[],
): QueuedWrite | undefined {
  const behind = leftovers
    .filter((leftover) => othersWrote(record, leftover))
    .flatMap(({ writes }) => writes);
  return outdatedWrite(
    behind.filter(({ writeId }) => !savedIds.includes(writeId)),
    record,
  );
}

/** Whether there are more writes in the record than these can be. */
function othersWrote(record: SessionRecord, { base, writes }: Leftover): boolean {
  const ours = writes.filter(({ sent }) => sent).length;
  return record.revision > base + ours || isBegunElsewhere(writes, record);
}

/** Whether the learner went on elsewhere after all these writes were made. */
function wentOnSince(record: SessionRecord, leftover: Leftover): boolean {
  return (
    othersWrote(record, leftover) && Date.parse(record.lastActivityAt) > (leftover.writes.at(-1)?.at ?? 0)
  );
}

function withoutState(write: QueuedWrite): QueuedWrite {
  const { variables, setVariables } = write;
  return {
    ...withoutRestart(write),
    progressData: null,
    variables: setVariables.length > 0 ? variables : null,
  };
}

function isOfUse(write: QueuedWrite): boolean {
  return holdsPlace(write) || write.setVariables.length > 0;
}
