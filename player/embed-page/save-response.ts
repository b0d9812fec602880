import { backoffMs } from '../../shared/platform/backoff.ts';
import {
  findOutdatedWrite,
  inAttemptOf,
  isBegunElsewhere,
  needsOwnPosition,
  rebased,
  split,
} from './queued-write.ts';
import type { QueuedWrite } from './queued-write.ts';
import type { Context, SaveQueue } from './save-queue.ts';
import type { SessionRecord } from './session-record.ts';

/** The outcome of a write's request. */
export type WriteResponse =
  | { kind: 'saved' | 'conflict'; record: SessionRecord }
  | { kind: 'erased' | 'expired' | 'gone' | 'rejected' }
  /** @param retryAfterMs the delay in the server's Retry-After header, or 0 */
  | { kind: 'failed'; retryAfterMs: number };

const backoff = { firstMs: 1000, maxMs: 60_000 };
/** The longest Retry-After delay that the queue accepts. */
const maxRetryAfterMs = 600_000;
const maxSavedIds = 100;
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
    case 'erased':
      return { queue: { ...idle, hold: 'erased', writes: [] } };
    case 'failed':
      return { queue: afterFailure(idle, response.retryAfterMs, context) };
    case 'rejected':
      return afterRejection(idle, inFlight.writeId, context);
  }
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
