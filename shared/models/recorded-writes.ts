import { writeKind } from './event-delivery.ts';
import type { EventDelivery, EventDeliveryDb } from './event-delivery.ts';

/* Writes of learners in the outbox, which workers replace by the statements about them. */

/** Returns an organization's writes without statements that are due, the oldest first. */
export function findWrites(
  db: EventDeliveryDb,
  organizationId: string,
  limit: number,
): Promise<EventDelivery[]> {
  return db.eventDeliveries
    .find({
      ...{ kind: writeKind, state: 'waiting', targetId: organizationId },
      nextTryAt: { $lte: new Date() },
    })
    .sort({ nextTryAt: 1 })
    .limit(limit)
    .lean<EventDelivery[]>()
    .exec();
}

/** Returns whether there still is a write. */
export async function hasWrite(db: EventDeliveryDb, id: string): Promise<boolean> {
  return (await db.eventDeliveries.exists({ _id: id })) !== null;
}

/** Removes a write whose statements are in the outbox. */
export async function removeWrite(db: EventDeliveryDb, id: string): Promise<void> {
  await db.eventDeliveries.deleteOne({ _id: id });
}

/** Postpones a write whose statements cannot be made. */
export async function postponeWrite(db: EventDeliveryDb, id: string, until: Date): Promise<void> {
  await db.eventDeliveries.updateOne({ _id: id }, { $set: { nextTryAt: until } });
}
