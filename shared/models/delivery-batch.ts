import { later, leaseDeliveries, leaseMs } from '../deliveries/outbox.ts';
import type { ClaimedDelivery, EventDelivery, EventDeliveryDb } from './event-delivery.ts';

/** Leases further rows of a claimed row's target that are due, those that have waited longest first. */
export async function claimMoreDeliveries(
  db: EventDeliveryDb,
  { _id, kind, targetId }: ClaimedDelivery,
  limit: number,
): Promise<ClaimedDelivery[]> {
  const found = await db.eventDeliveries
    .find(
      { kind, targetId, state: 'waiting', nextTryAt: { $lte: new Date() }, _id: { $ne: _id } },
      { _id: 1 },
    )
    .sort({ nextTryAt: 1 })
    .limit(limit)
    .lean<Pick<EventDelivery, '_id'>[]>()
    .exec();
  // Other claims then need not skip the rows.
  return leaseDeliveries<EventDelivery, ClaimedDelivery>(
    db.eventDeliveries,
    found.map((row) => row._id),
    { nextTryAt: later(leaseMs) },
  );
}
