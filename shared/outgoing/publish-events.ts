import type { ClientSession } from 'mongoose';
import type { EventData, EventType, LecternEvent } from '../events/event-types.ts';
import type { Database } from '../models/database.ts';
import { insertDeliveries } from '../models/event-delivery.ts';
import type { NewDelivery } from '../models/event-delivery.ts';
import type { Webhook } from '../models/webhook.ts';
import { inTransaction } from '../platform/mongo.ts';
import { webhookDelivery } from '../webhooks/manage.ts';
import { activeWebhooks } from './subscriptions.ts';

/*
 * A change and the events that report it are stored in one transaction (transactional outbox), so a crash loses neither.
 * Without a webhook that gets them, the change is stored as it is.
 */

/**
 * Makes a change, and adds its events to the outbox.
 *
 * @param about.except a webhook that does not get them.
 * @param change makes the change with the session, if there is one; MongoDB may repeat it.
 * @param eventsOf returns the events of its result.
 */
export async function changeWithEvents<T>(
  db: Database,
  about: { organizationId: string; types: readonly EventType[]; except?: string },
  change: (session?: ClientSession) => Promise<T>,
  eventsOf: (result: T) => readonly LecternEvent[],
): Promise<T> {
  const active = await activeWebhooks(db, about.organizationId, about.types);
  const webhooks = active.filter(({ _id }) => _id !== about.except);
  if (webhooks.length === 0) return change();
  return inTransaction(db.connection, async (session) => {
    const result = await change(session);
    await insertDeliveries(
      db,
      eventsOf(result).flatMap((event) => rowsOf(event, webhooks)),
      session,
    );
    return result;
  });
}

/** Adds an event of no document to the outbox. A repeated one, with the same key, adds nothing. */
export async function publishEvent(db: Database, event: LecternEvent): Promise<void> {
  const webhooks = await activeWebhooks(db, event.organizationId, [event.type]);
  await insertDeliveries(db, rowsOf(event, webhooks));
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

/** Returns the deliveries of an event to the webhooks that subscribe to it. */
export function rowsOf(
  event: LecternEvent,
  webhooks: readonly Pick<Webhook, '_id' | 'types'>[],
): NewDelivery[] {
  return webhooks
    .filter(({ types }) => types.includes(event.type))
    .map(({ _id }) => webhookDelivery(_id, event));
}
