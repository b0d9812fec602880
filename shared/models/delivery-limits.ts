import type { DeliveryState } from '../deliveries/outbox.ts';
import type { EventDelivery, EventDeliveryDb } from './event-delivery.ts';

/** The limit of an organization's waiting rows. */
export const maxWaitingRows = 500_000;

/** Returns the number of an organization's rows in a state, up to a limit. */
export function countDeliveries(
  db: EventDeliveryDb,
  organizationId: string,
  state: DeliveryState,
  limit: number,
): Promise<number> {
  return db.eventDeliveries.countDocuments({ organizationId, state }, { limit }).exec();
}

/** Deletes the oldest rows of an organization in a state, at most `limit` of them. Keeps the newest `kept` rows. */
export async function trimDeliveries(
  db: EventDeliveryDb,
  organizationId: string,
  state: DeliveryState,
  { kept, limit }: { kept: number; limit: number },
): Promise<void> {
  const surplus = await db.eventDeliveries
    .find({ organizationId, state }, { _id: 1 })
    .sort({ createdAt: -1 })
    .skip(kept)
    .limit(limit)
    .lean<Pick<EventDelivery, '_id'>[]>()
    .exec();
  if (surplus.length === 0) return;
  await db.eventDeliveries.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) }, state });
}
