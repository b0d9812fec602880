import type { EventData, LecternEvent } from '../events/event-types.ts';
import type { PublishedEvents } from '../events/pending-events.ts';
import { snapshotOf, updateIntervalMs } from '../events/progress-events.ts';
import type {
  ProgressChange,
  ProgressEvent,
  ProgressEventFields,
  ProgressSnapshot,
} from '../events/progress-events.ts';
import type { Database } from '../models/database.ts';
import type { EmbedProgress } from '../models/embed-progress.ts';
import type { EventOwner } from '../models/event-backlog.ts';
import type { LtiProgress } from '../models/lti-progress.ts';
import type { Webhook } from '../models/webhook.ts';
import { scaledTo100, shownPoints } from '../progress/points.ts';
import type { Points } from '../progress/points.ts';
import type { EventSource, ReadEvents } from './event-source.ts';
import type { RecordedWrite } from './statement-rows.ts';

const recordFields: Record<string, 1> = {
  ...{ lessonId: 1, announced: 1, lastActivityAt: 1 },
  ...{ revision: 1, attempt: 1, versionId: 1, status: 1, score: 1, maxScore: 1, completedAt: 1 },
};

type AnyRecord = EmbedProgress | LtiProgress;

/** Learners of integrators. */
export function embedSource(db: Database): EventSource<EmbedProgress> {
  return {
    model: db.embedProgress,
    fields: { ...recordFields, learnerId: 1 },
    ownerOf: ({ _id, organizationId, lessonId, learnerId }) => ({ _id, organizationId, lessonId, learnerId }),
    read: readRecord,
  };
}

/** Users of LTI platforms. */
export function ltiSource(db: Database): EventSource<LtiProgress> {
  return {
    model: db.ltiProgress,
    fields: { ...recordFields, ltiUserId: 1, platformId: 1, contextId: 1 },
    ownerOf({ _id, organizationId, lessonId, ltiUserId, platformId, contextId }) {
      return { _id, organizationId, lessonId, ltiUserId, platformId, contextId };
    },
    read: readRecord,
  };
}

/** Returns the events of a record, and `progress.updated` if it is due. */
function readRecord(record: AnyRecord & ProgressEventFields, webhooks: readonly Webhook[]): ReadEvents {
  const { _id, events: pending = [] } = record;
  const { events, writes } = readEvents(record, pending);
  const published: PublishedEvents = { _id, ids: pending.map(({ id }) => id) };
  if (!webhooks.some(({ types }) => types.includes('progress.updated'))) return { events, writes, published };
  const { update, ...next } = updateOf(record);
  if (update !== null) events.push(toEvent(record, 'progress.updated', record.lastActivityAt, update));
  return { events, writes, published: { ...published, ...next } };
}

/** Returns the events of a record as webhooks get them, and its writes for statements. */
export function readEvents(
  owner: EventOwner,
  pending: readonly ProgressEvent[],
): { events: LecternEvent[]; writes: RecordedWrite[] } {
  const { _id: recordId, organizationId, lessonId } = owner;
  const platformId = 'platformId' in owner ? owner.platformId : null;
  return {
    events: pending.flatMap((event) =>
      event.changes.map((change) => toEvent(owner, `progress.${change}`, event.at, event)),
    ),
    writes: pending.map((event) => ({
      ...{ recordId, organizationId, lessonId, learnerId: learnerOf(owner), platformId, event },
    })),
  };
}

function toEvent(
  owner: EventOwner,
  type: `progress.${ProgressChange | 'updated'}`,
  at: Date,
  snapshot: ProgressSnapshot,
): LecternEvent {
  const { _id, organizationId, lessonId } = owner;
  return {
    ...{ type, key: `${_id}:${snapshot.revision}:${type}`, at, organizationId, lessonId },
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
    return {
      source: 'embed',
      organizationId,
      lessonId,
      learnerId,
      ...presentSnapshot(snapshot, shownPoints(snapshot)),
    };
  }
  const { ltiUserId, platformId, contextId } = owner;
  const result = presentSnapshot(snapshot, scaledTo100(snapshot));
  return { source: 'lti', organizationId, lessonId, ltiUserId, platformId, contextId, ...result };
}

/** Returns the state to announce, null if none is due, and an expression for the time of the next read. */
function updateOf(
  record: AnyRecord & ProgressEventFields,
): { update: ProgressSnapshot | null } & Pick<PublishedEvents, 'set' | 'againAt'> {
  const { announced, revision } = record;
  const now = Date.now();
  const earliest = announced === undefined ? now : announced.at.getTime() + updateIntervalMs;
  const isNew = announced === undefined || announced.revision < revision;
  if (isNew && earliest > now) return { update: null, againAt: new Date(earliest) };
  // MongoDB evaluates this expression, so it also sees writes since the record was read.
  const afterChange = (at: number) => ({
    $cond: [{ $gt: ['$revision', revision] }, new Date(at), '$$REMOVE'],
  });
  if (!isNew) return { update: null, againAt: afterChange(earliest) };
  return {
    update: snapshotOf(record),
    set: { announced: { revision, at: new Date(now) } },
    againAt: afterChange(now + updateIntervalMs),
  };
}

function presentSnapshot(snapshot: ProgressSnapshot, points: Points) {
  const { completedAt, ...result } = snapshotOf({ ...snapshot, ...points });
  return { ...result, completedAt: completedAt?.toISOString() ?? null };
}
