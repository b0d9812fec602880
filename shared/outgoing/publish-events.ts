import type { EventData, LecternEvent } from '../events/event-types.ts';
import type { PublishedEvents } from '../events/pending-events.ts';
import type { ProgressEvent } from '../events/progress-events.ts';
import { findPending, postponePending, removePublished } from '../events/pending-events.ts';
import type { Database } from '../models/database.ts';
import {
  addToBacklog,
  hasBacklogRoom,
  listBacklogOwners,
  readBacklog,
  removeFromBacklog,
  skipInBacklog,
} from '../models/event-backlog.ts';
import type { EventOwner } from '../models/event-backlog.ts';
import { insertDeliveries } from '../models/event-delivery.ts';
import type { NewDelivery } from '../models/event-delivery.ts';
import { listDestinations } from '../models/xapi-destination.ts';
import { listWebhooks } from '../models/webhook.ts';
import type { Webhook } from '../models/webhook.ts';
import type { Logger } from '../platform/log.ts';
import { webhookDelivery } from '../webhooks/manage.ts';
import type { EventSource, PendingDocument, ReadEvents } from './event-source.ts';
import { destinationSource, gradeSource, publicationSource, webhookSource } from './event-sources.ts';
import { MalformedDocuments } from './malformed-documents.ts';
import { statementRows } from './statement-rows.ts';
import { defaultRowLimits, fullOutboxes } from './row-limits.ts';
import type { RowLimits } from './row-limits.ts';
import type { RecordedWrite, StatementDependencies } from './statement-rows.ts';
import { embedSource, ltiSource, readEvents } from './progress-sources.ts';

/** The number of documents per query, and of queries per source in one sweep. */
const batchSize = 200;
const maxBatches = 50;
/**
 * The maximum number of batches from each organization's backlog in one sweep, so that new events of others do not wait
 * long.
 */
const maxBacklogBatches = 5;

/** A write may have a thousand answers, each of which is a statement to each destination. */
const maxStatementsAtOnce = 1_000;
const postponedMs = 60_000;

interface PublishDependencies extends StatementDependencies {
  log: Logger;
}

type Publishing = PublishDependencies & { limits: RowLimits };

/** Moves all pending events that are due to the outbox. @param signal ends it after the current batch. */
export async function publishDueEvents(
  dependencies: PublishDependencies,
  signal: AbortSignal,
  limits = defaultRowLimits,
): Promise<void> {
  const { db } = dependencies;
  const deps = { ...dependencies, limits };
  await publishBacklog(deps, signal);
  await publishSource(deps, embedSource(db), signal);
  await publishSource(deps, ltiSource(db), signal);
  await publishSource(deps, publicationSource(db), signal);
  await publishSource(deps, gradeSource(db), signal);
  await publishSource(deps, webhookSource(db), signal);
  await publishSource(deps, destinationSource(db), signal);
}

/** Adds an event to the outbox that is not pending in any document. */
export async function publishEvent(db: Database, event: LecternEvent): Promise<void> {
  await insertDeliveries(db, rowsOf(event, await activeWebhooks(db, [event.organizationId])));
}

/**
 * Reports to webhooks that the data of a learner were erased.
 *
 * @param erasure.id identifies the erasure: a repeated report adds nothing.
 */
export async function publishErasure(
  db: Database,
  { id, at }: { id: string; at: Date },
  data: EventData<'learner.erased'>,
): Promise<void> {
  const { organizationId } = data;
  const key = `erasure:${id}`;
  // The row names no learner, so a repeated erasure does not remove a report that waits for its receiver.
  await publishEvent(db, {
    ...{ type: 'learner.erased', key, at, organizationId, lessonId: null, learnerId: null, data },
  });
}

async function publishSource<Document extends PendingDocument>(
  deps: Publishing,
  source: EventSource<Document>,
  signal: AbortSignal,
): Promise<void> {
  for (let batch = 0; batch < maxBatches && !signal.aborted; batch += 1) {
    const found = await findPending(
      source.model,
      { organizationId: 1, ...source.fields } as const,
      batchSize,
    );
    await publishBatch(deps, source, found);
    if (found.length === 0) return;
  }
}

async function publishBatch<Document extends PendingDocument>(
  deps: Publishing,
  source: EventSource<Document>,
  found: readonly Document[],
): Promise<void> {
  if (found.length === 0) return;
  const { db } = deps;
  const malformed = new MalformedDocuments();
  for (const document of found) await malformed.read(document._id, () => checkPending(document));
  const documents = malformed.without(found);
  const organizationIds = [...new Set(documents.map(({ organizationId }) => organizationId))];
  const full = await fullOutboxes(deps, organizationIds, deps.limits);
  const webhooks = await activeWebhooks(db, organizationIds);
  const isFull = ({ organizationId }: Document) => full.has(organizationId);
  await keepForLater(db, source, documents.filter(isFull), webhooks);
  const publications: (EventRows & { published: PublishedEvents })[] = [];
  for (const document of documents.filter((one) => !isFull(one))) {
    const publication = await malformed.read(document._id, () => {
      const read = source.read(document, ofOrganization(webhooks, document.organizationId));
      return { _id: document._id, ...rowsOfEvents(read, webhooks), published: read.published };
    });
    if (publication !== null) publications.push(publication);
  }
  await insertRows(deps, organizationIds, publications, malformed);
  // Last: after a crash before this, the next sweep inserts the same rows again, and MongoDB ignores them.
  await removePublished(
    source.model,
    malformed.without(publications).map(({ published }) => published),
  );
  await postponePending(source.model, malformed.ids, malformed.retryAt);
  malformed.report(deps.log, source.model.modelName);
}

/** @throws for a document that would stop the events of others. */
function checkPending({ organizationId, events = [] }: PendingDocument): void {
  if (typeof organizationId !== 'string') throw new TypeError('The organization is no text');
  for (const { id } of events) if (typeof id !== 'string') throw new TypeError('An event has no id');
}

/** The events of a document, as rows of webhooks and as writes for statements. */
interface EventRows {
  _id: string;
  rows: NewDelivery[];
  writes: readonly RecordedWrite[];
}

function rowsOfEvents(
  { events, writes = [] }: Pick<ReadEvents, 'events' | 'writes'>,
  webhooks: readonly Webhook[],
): Omit<EventRows, '_id'> {
  return { rows: events.flatMap((event) => rowsOf(event, webhooks)), writes };
}

async function insertRows(
  deps: Publishing,
  organizationIds: readonly string[],
  documents: readonly EventRows[],
  malformed: MalformedDocuments,
): Promise<void> {
  const { db } = deps;
  await insertDeliveries(
    db,
    documents.flatMap(({ rows }) => rows),
  );
  const destinations = await listDestinations(db, organizationIds);
  if (destinations.length === 0) return;
  const homePages = new Map<string, string>();
  let rows: NewDelivery[] = [];
  for (const { _id, writes } of documents) {
    for (const write of writes) {
      const some = await malformed.read(_id, () => statementRows(deps, destinations, write, homePages));
      rows.push(...(some ?? []));
      if (rows.length < maxStatementsAtOnce) continue;
      await insertDeliveries(db, rows);
      rows = [];
    }
  }
  await insertDeliveries(db, rows);
}

/** Moves the events of records to the backlog while the outbox has no room; other documents keep theirs. */
async function keepForLater<Document extends PendingDocument>(
  db: Database,
  { model, ownerOf }: EventSource<Document>,
  documents: readonly Document[],
  webhooks: readonly Webhook[],
): Promise<void> {
  const later = new Date(Date.now() + postponedMs);
  const staying: string[] = [];
  const moved: { owner: EventOwner; events: ProgressEvent[] }[] = [];
  for (const document of documents) {
    const { _id, organizationId, events = [] } = document;
    const hasRoom = events.length > 0 && (await hasBacklogRoom(db, organizationId));
    if (ownerOf === undefined || !hasRoom) staying.push(_id);
    else moved.push({ owner: ownerOf(document), events: events as ProgressEvent[] });
  }
  await addToBacklog(db, moved);
  const wantsUpdates = new Set(
    webhooks
      .filter(({ types }) => types.includes('progress.updated'))
      .map(({ organizationId }) => organizationId),
  );
  await removePublished(
    model,
    moved.map(({ owner: { _id, organizationId }, events }) => ({
      ...{ _id, ids: events.map(({ id }) => id) },
      ...(wantsUpdates.has(organizationId) && { againAt: later }),
    })),
  );
  await postponePending(model, staying, later);
}

/** Moves events from the backlog to the outbox, for each organization whose outbox has room. */
async function publishBacklog(deps: Publishing, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const organizationIds = await listBacklogOwners(db);
  for (const organizationId of organizationIds) {
    for (let batch = 0; batch < maxBacklogBatches && !signal.aborted; batch += 1) {
      if ((await fullOutboxes(deps, [organizationId], deps.limits)).size > 0) break;
      const entries = await readBacklog(db, organizationId, batchSize);
      if (entries.length === 0) break;
      const webhooks = await activeWebhooks(db, [organizationId]);
      const malformed = new MalformedDocuments();
      const read: EventRows[] = [];
      for (const { _id, owner, event } of entries) {
        const one = await malformed.read(_id, () => rowsOfEvents(readEvents(owner, [event]), webhooks));
        if (one !== null) read.push({ _id, ...one });
      }
      await insertRows(deps, [organizationId], read, malformed);
      await removeFromBacklog(
        db,
        malformed.without(entries).map(({ _id }) => _id),
      );
      await skipInBacklog(db, malformed.ids, malformed.retryAt);
      malformed.report(deps.log, db.eventBacklog.modelName);
    }
  }
}

function rowsOf(event: LecternEvent, webhooks: readonly Webhook[]) {
  return ofOrganization(webhooks, event.organizationId)
    .filter(({ types }) => types.includes(event.type))
    .map(({ _id }) => webhookDelivery(_id, event));
}

function ofOrganization(webhooks: readonly Webhook[], id: string): Webhook[] {
  return webhooks.filter(({ organizationId }) => organizationId === id);
}

async function activeWebhooks(db: Database, organizationIds: readonly string[]): Promise<Webhook[]> {
  return (await listWebhooks(db, organizationIds)).filter(({ disabled }) => disabled === null);
}
