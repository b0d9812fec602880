import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import type { EventData, LecternEvent } from '../events/event-types.ts';
import { changesOf, detailsOf, snapshotOf, updateAt } from '../events/progress-events.ts';
import type {
  EventOwner,
  LastUpdate,
  ProgressChange,
  ProgressSnapshot,
  WriteEvent,
} from '../events/progress-events.ts';
import { insertDeliveries, replaceWaiting, writeKind } from '../models/event-delivery.ts';
import type { EventDeliveryDb, NewDelivery } from '../models/event-delivery.ts';
import { scaledTo100, shownPoints } from '../progress/points.ts';
import type { Points } from '../progress/points.ts';
import type { ProgressState } from '../progress/state.ts';
import { rowsOf } from './publish-events.ts';
import type { ProgressReceivers } from './subscriptions.ts';

/** A write to a learner's record. */
export interface ReportedWrite {
  owner: EventOwner;
  before: ProgressState;
  next: ProgressState;
  lastUpdate: LastUpdate | null;
}

/** Adds rows to the outbox in a transaction; returns the `progress.updated` that the record notes. */
export type AddRows = (session: ClientSession) => Promise<LastUpdate | null>;

/** Returns a function that adds the rows of a write to the outbox; null if no receiver gets any. */
export function rowsOfWrite(
  db: EventDeliveryDb,
  { webhooks, hasDestinations }: ProgressReceivers,
  write: ReportedWrite,
): AddRows | null {
  const { owner, before, next, lastUpdate } = write;
  const at = next.lastActivityAt;
  const rows = changesOf(before, next).flatMap((change) =>
    rowsOf(toEvent(owner, `progress.${change}`, { key: randomUUID(), at }, next), webhooks),
  );
  const details = hasDestinations ? detailsOf(before, next) : null;
  if (details !== null) {
    const { revision, attempt, versionId, score, maxScore } = next;
    rows.push(writeRow(owner, { at, revision, attempt, versionId, score, maxScore, details }));
  }
  const updated = webhooks.filter(({ types }) => types.includes('progress.updated'));
  if (updated.length === 0) {
    if (rows.length === 0) return null;
    return async (session) => {
      await insertDeliveries(db, rows, session);
      return lastUpdate;
    };
  }
  const updatesOf = ({ id, at: nextTryAt }: LastUpdate) =>
    rowsOf(toEvent(owner, 'progress.updated', { key: id, at }, next), updated).map((row) => ({
      ...row,
      nextTryAt,
    }));
  return async (session) => {
    const update = await nextUpdate(db, lastUpdate, updatesOf, session);
    await insertDeliveries(db, update === lastUpdate ? rows : [...rows, ...updatesOf(update)], session);
    return update;
  };
}

/**
 * Returns the `progress.updated` that reports a write. It is the last one, with new content, unless a worker may be
 * sending that, or a webhook that was created since has none.
 */
async function nextUpdate(
  db: EventDeliveryDb,
  last: LastUpdate | null,
  updatesOf: (update: LastUpdate) => NewDelivery[],
  session: ClientSession,
): Promise<LastUpdate> {
  const now = new Date();
  const update = updateAt(last, now);
  if (update !== last) return update;
  const rows = updatesOf(update);
  const [first] = rows;
  const ids = rows.map(({ _id }) => _id);
  if (first !== undefined && (await replaceWaiting(db, ids, first, session))) return update;
  return updateAt(update, update.at);
}

/** Returns the row that workers replace by the statements about a write. */
function writeRow(owner: EventOwner, event: WriteEvent): NewDelivery {
  const { recordId, organizationId, lessonId } = owner;
  return {
    _id: randomUUID(),
    ...{ kind: writeKind, type: writeKind, targetId: organizationId, organizationId, lessonId },
    ...{ learnerId: learnerOf(owner), platformId: 'platformId' in owner ? owner.platformId : null },
    eventAt: event.at,
    body: JSON.stringify({ recordId, event }),
  };
}

function toEvent(
  owner: EventOwner,
  type: `progress.${ProgressChange | 'updated'}`,
  { key, at }: { key: string; at: Date },
  snapshot: ProgressSnapshot,
): LecternEvent {
  const { organizationId, lessonId } = owner;
  return {
    ...{ type, key, at, organizationId, lessonId },
    ...{ learnerId: learnerOf(owner), data: present(owner, snapshot) },
  };
}

function learnerOf(owner: EventOwner): string {
  return 'learnerId' in owner ? owner.learnerId : owner.ltiUserId;
}

/** Points of LTI users are out of 100, as in lti-progress. */
function present(owner: EventOwner, snapshot: ProgressSnapshot): EventData<'progress.updated'> {
  const { organizationId, lessonId } = owner;
  if ('learnerId' in owner) {
    const { learnerId } = owner;
    const result = presentSnapshot(snapshot, shownPoints(snapshot));
    return { source: 'embed', organizationId, lessonId, learnerId, ...result };
  }
  const { ltiUserId, platformId, contextId } = owner;
  const result = presentSnapshot(snapshot, scaledTo100(snapshot));
  return { source: 'lti', organizationId, lessonId, ltiUserId, platformId, contextId, ...result };
}

function presentSnapshot(snapshot: ProgressSnapshot, points: Points) {
  const { completedAt, ...result } = snapshotOf({ ...snapshot, ...points });
  return { ...result, completedAt: completedAt?.toISOString() ?? null };
}
