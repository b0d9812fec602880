import type { EventData, LecternEvent } from '../events/event-types.ts';
import type { PublishedEvents } from '../events/pending-events.ts';
import { snapshotOf, updateIntervalMs } from '../events/progress-events.ts';
import type { ProgressEventFields, ProgressSnapshot } from '../events/progress-events.ts';
import type { Database } from '../models/database.ts';
import type { EmbedProgress } from '../models/embed-progress.ts';
import type { LtiProgress } from '../models/lti-progress.ts';
import type { Webhook } from '../models/webhook.ts';
import { scaledTo100 } from '../progress/score.ts';
import type { EventSource, ReadEvents } from './event-source.ts';
import type { RecordedWrite } from './statement-rows.ts';

const recordFields: Record<string, 1> = {
  ...{ lessonId: 1, announced: 1, lastActivityAt: 1 },
  ...{ revision: 1, attempt: 1, versionId: 1, status: 1, score: 1, maxScore: 1, completedAt: 1 },
};

type ProgressData = EventData<'progress.updated'>;
type AnyRecord = EmbedProgress | LtiProgress;

/** Learners of integrators. */
export function embedSource(db: Database): EventSource<EmbedProgress> {
  return {
    model: db.embedProgress,
    fields: { ...recordFields, learnerId: 1 },
    read: (record, webhooks) =>
      readRecord(record, webhooks, { learnerId: record.learnerId, platformId: null }, (snapshot) => {
        const { organizationId, lessonId, learnerId } = record;
        return { source: 'embed', organizationId, lessonId, learnerId, ...presentSnapshot(snapshot) };
      }),
  };
}

/** Users of LTI platforms. Their points are out of 100, as in lti-progress. */
export function ltiSource(db: Database): EventSource<LtiProgress> {
  return {
    model: db.ltiProgress,
    fields: { ...recordFields, ltiUserId: 1, platformId: 1, contextId: 1 },
    read: (record, webhooks) =>
      readRecord(
        record,
        webhooks,
        { learnerId: record.ltiUserId, platformId: record.platformId },
        (snapshot) => {
          const { organizationId, lessonId, ltiUserId, platformId, contextId } = record;
          const scaled = scaledTo100(snapshot.score, snapshot.maxScore);
          const learner = { ltiUserId, platformId, contextId };
          const result = presentSnapshot({ ...snapshot, ...scaled });
          return { source: 'lti', organizationId, lessonId, ...learner, ...result };
        },
      ),
  };
}

/** Returns the events of a record, and `progress.updated` if it is due. */
function readRecord(
  record: AnyRecord & ProgressEventFields,
  webhooks: readonly Webhook[],
  { learnerId, platformId }: Pick<RecordedWrite, 'learnerId' | 'platformId'>,
  present: (snapshot: ProgressSnapshot) => ProgressData,
): ReadEvents {
  const { _id, organizationId, lessonId, events: pending = [] } = record;
  const toEvent = (type: `progress.${string}`, at: Date, snapshot: ProgressSnapshot) =>
    ({
      type,
      key: `${_id}:${snapshot.revision}:${type}`,
      ...{ at, organizationId, lessonId, learnerId },
      data: present(snapshot),
    }) as LecternEvent;
  const events = pending.flatMap((event) =>
    event.changes.map((change) => toEvent(`progress.${change}`, event.at, event)),
  );
  const writes = pending.map((event) => ({
    ...{ recordId: _id, organizationId, lessonId, learnerId, platformId, event },
  }));
  const published: PublishedEvents = { _id, ids: pending.map(({ id }) => id) };
  if (!webhooks.some(({ types }) => types.includes('progress.updated'))) return { events, writes, published };
  const { update, ...next } = updateOf(record);
  if (update !== null) events.push(toEvent('progress.updated', record.lastActivityAt, update));
  return { events, writes, published: { ...published, ...next } };
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
    update: snapshotOf({ ...record, attempt: record.attempt ?? 1 }),
    set: { announced: { revision, at: new Date(now) } },
    againAt: afterChange(now + updateIntervalMs),
  };
}

function presentSnapshot(snapshot: ProgressSnapshot) {
  const { completedAt, ...result } = snapshotOf(snapshot);
  return { ...result, completedAt: completedAt?.toISOString() ?? null };
}
