import type { LecternEvent } from '../events/event-types.ts';
import { findPending, postponePending, removePublished } from '../events/pending-events.ts';
import type { Database } from '../models/database.ts';
import { countDeliveries, trimDeliveries } from '../models/delivery-limits.ts';
import { insertDeliveries } from '../models/event-delivery.ts';
import { listDestinations } from '../models/xapi-destination.ts';
import { listWebhooks } from '../models/webhook.ts';
import type { Webhook } from '../models/webhook.ts';
import type { Logger } from '../platform/log.ts';
import { webhookDelivery } from '../webhooks/manage.ts';
import type { EventSource, PendingDocument } from './event-source.ts';
import { gradeSource, publicationSource, webhookSource } from './event-sources.ts';
import { statementRows } from './statement-rows.ts';
import type { StatementDependencies } from './statement-rows.ts';
import { embedSource, ltiSource } from './progress-sources.ts';

/** Documents per query, and per source in one sweep. */
const batchSize = 200;
const maxBatches = 50;

/**
 * The limits of an organization's rows. From `maxWaitingRows` on, new events stay in their documents, each of which
 * holds a bounded number. Above `maxEndedRows`, Lectern deletes the oldest delivered and failed rows.
 */
export const maxWaitingRows = 100_000;
export const maxEndedRows = 100_000;
const trimmedAtOnce = 20_000;
const postponedMs = 60_000;
const countCacheMs = 10_000;

export interface PublishDependencies extends StatementDependencies {
  log: Logger;
}

/** Publishes all due pending events to the outbox. @param signal ends it after the current batch. */
export async function publishDueEvents(deps: PublishDependencies, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  await publishSource(deps, embedSource(db), signal);
  await publishSource(deps, ltiSource(db), signal);
  await publishSource(deps, publicationSource(db), signal);
  await publishSource(deps, gradeSource(db), signal);
  await publishSource(deps, webhookSource(db), signal);
}

/** Adds an event to the outbox that is not pending in any document. */
export async function publishEvent(db: Database, event: LecternEvent): Promise<void> {
  await insertDeliveries(db, rowsOf(event, await activeWebhooks(db, [event.organizationId])));
}

async function publishSource<Document extends PendingDocument>(
  deps: PublishDependencies,
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
    if (found.length < batchSize) return;
  }
}

async function publishBatch<Document extends PendingDocument>(
  deps: PublishDependencies,
  { model, read }: EventSource<Document>,
  found: readonly Document[],
): Promise<void> {
  if (found.length === 0) return;
  const { db } = deps;
  const organizationIds = [...new Set(found.map(({ organizationId }) => organizationId))];
  const full = await fullOutboxes(deps, organizationIds);
  const isFull = ({ organizationId }: Document) => full.has(organizationId);
  const postponed = found.filter(isFull).map(({ _id }) => _id);
  await postponePending(model, postponed, new Date(Date.now() + postponedMs));
  const webhooks = await activeWebhooks(db, organizationIds);
  const publications = found
    .filter((document) => !isFull(document))
    .map((document) => read(document, ofOrganization(webhooks, document.organizationId)));
  const destinations = await listDestinations(db, organizationIds);
  const writes = publications.flatMap((publication) => publication.writes ?? []);
  await insertDeliveries(db, [
    ...publications.flatMap(({ events }) => events.flatMap((event) => rowsOf(event, webhooks))),
    ...(await statementRows(deps, destinations, writes)),
  ]);
  // Last: after a crash in between, the same rows are inserted again, and none is added.
  await removePublished(
    model,
    publications.map(({ published }) => published),
  );
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

/** The last count of each organization's rows: its time, and whether there were too many. */
const counted = new WeakMap<Database, Map<string, { at: number; isFull: boolean }>>();

/**
 * Returns the organizations with too many waiting rows. Deletes the oldest ended rows of organizations with too many of
 * these.
 */
async function fullOutboxes(
  { db, log }: PublishDependencies,
  organizationIds: readonly string[],
): Promise<Set<string>> {
  const counts = counted.get(db) ?? new Map<string, { at: number; isFull: boolean }>();
  counted.set(db, counts);
  const now = performance.now();
  for (const [id, { at }] of counts) if (now - at >= countCacheMs) counts.delete(id);
  for (const id of organizationIds.filter((one) => !counts.has(one))) {
    const isFull = (await countDeliveries(db, id, 'waiting', maxWaitingRows)) >= maxWaitingRows;
    if (isFull) {
      const details = { organization: id, rows: maxWaitingRows };
      log.warn(details, 'an organization has too many undelivered events; new ones wait');
    }
    counts.set(id, { at: now, isFull });
    for (const state of ['idle', 'failed'] as const) {
      if ((await countDeliveries(db, id, state, maxEndedRows)) < maxEndedRows) continue;
      await trimDeliveries(db, id, state, { kept: maxEndedRows, limit: trimmedAtOnce });
    }
  }
  return new Set(organizationIds.filter((id) => counts.get(id)?.isFull === true));
}
