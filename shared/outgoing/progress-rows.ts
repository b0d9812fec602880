import { randomUUID } from 'node:crypto';
import type { Model } from 'mongoose';
import type { EventData, LecternEvent } from '../events/event-types.ts';
import { changesOf, detailsOf, nextUpdateAt, snapshotOf } from '../events/progress-events.ts';
import type { EventOwner, ProgressChange, ProgressSnapshot, WriteEvent } from '../events/progress-events.ts';
import type { Database } from '../models/database.ts';
import type { EmbedProgress } from '../models/embed-progress.ts';
import type { NewDelivery, SourceKind } from '../models/event-delivery.ts';
import type { LtiProgress } from '../models/lti-progress.ts';
import type { Logger } from '../platform/log.ts';
import { scaledTo100, shownPoints } from '../progress/points.ts';
import type { Points } from '../progress/points.ts';
import type { ProgressState } from '../progress/state.ts';
import { rowsOf } from './publish-events.ts';
import { replaceRows } from './source-rows.ts';
import { activeWebhooks } from './subscriptions.ts';
import type { ProgressReceivers } from './subscriptions.ts';

/** A write to a learner's record. */
export interface ReportedWrite {
  owner: EventOwner;
  before: ProgressState;
  next: ProgressState;
  /** When the last `progress.updated` of the record is due; null before the first. */
  updateDueAt: Date | null;
}

/** Returns the rows of a write for the outbox, and when the `progress.updated` that reports it is due; null for none. */
export function rowsOfWrite(
  { webhooks, hasDestinations }: ProgressReceivers,
  { owner, before, next, updateDueAt: lastDueAt }: ReportedWrite,
): { rows: NewDelivery[]; updateDueAt: Date | null } {
  const at = next.lastActivityAt;
  const rows = changesOf(before, next).flatMap((change) =>
    rowsOf(toEvent(owner, `progress.${change}`, { key: randomUUID(), at }, next), webhooks),
  );
  const details = hasDestinations ? detailsOf(before, next) : null;
  if (details !== null) {
    const { revision, attempt, versionId, score, maxScore } = next;
    const event: WriteEvent = { at, revision, attempt, versionId, score, maxScore, details };
    const body = JSON.stringify({ recordId: owner.recordId, event });
    rows.push(sourceRow(owner, { kind: 'write', eventAt: at, body }));
  }
  const hasUpdates = webhooks.some(({ types }) => types.includes('progress.updated'));
  const updateDueAt = hasUpdates ? nextUpdateAt(lastDueAt, new Date()) : lastDueAt;
  if (updateDueAt !== null && updateDueAt !== lastDueAt) {
    rows.push({
      ...sourceRow(owner, { kind: 'update', eventAt: at, body: owner.recordId }),
      nextTryAt: updateDueAt,
    });
  }
  return { rows, updateDueAt };
}

/**
 * Replaces the updates in the outbox that are due by a `progress.updated` for each webhook.
 *
 * @param signal ends it after the current one.
 */
export function makeUpdates(deps: { db: Database; log: Logger }, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  return replaceRows(
    deps,
    {
      kind: 'update',
      receiversOf: (organizationId) => activeWebhooks(db, organizationId, ['progress.updated']),
      async rowsFor({ _id: key, platformId, body: recordId }, webhooks) {
        const records = (platformId === null ? db.embedProgress : db.ltiProgress) as Model<StoredResult>;
        const record = await records.findById(recordId).select(withoutContent).lean<StoredResult>().exec();
        if (record === null) return [];
        const about = { key, at: record.lastActivityAt };
        return rowsOf(toEvent({ ...record, recordId }, 'progress.updated', about, record), webhooks);
      },
    },
    signal,
  );
}

/** A record without what `progress.updated` does not report. */
type StoredResult = (EmbedProgress | LtiProgress) & ProgressSnapshot;
const withoutContent = '-items -variables -progressData -userAttributes -stepTimes -recentWriteIds';

/** Returns a row about a learner's record that workers replace. */
function sourceRow(
  owner: EventOwner,
  row: Pick<NewDelivery, 'eventAt' | 'body'> & { kind: SourceKind },
): NewDelivery {
  const { organizationId, lessonId } = owner;
  return {
    _id: randomUUID(),
    ...{ ...row, type: row.kind, targetId: organizationId, organizationId, lessonId },
    ...{ learnerId: learnerOf(owner), platformId: 'platformId' in owner ? owner.platformId : null },
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
