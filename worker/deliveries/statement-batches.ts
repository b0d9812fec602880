import { isDue, later, leaseDeliveries, leaseMs } from '../../shared/deliveries/outbox.ts';
import type { ClaimedDelivery, EventDelivery, EventDeliveryDb } from '../../shared/models/event-delivery.ts';

/* Which statements go to a learning record store together. */

/** The limits of one request: its statements, which also limit a claim, and their size. */
const maxBatch = 50;
const maxBatchCharacters = 500_000;

/**
 * Leases further rows of a claimed row's target that are due, those that have waited longest first. So statements usually
 * arrive in their order; a record store orders them by their times.
 */
export async function claimMore(
  db: EventDeliveryDb,
  { _id, kind, targetId }: ClaimedDelivery,
): Promise<ClaimedDelivery[]> {
  const found = await db.eventDeliveries
    .find({ kind, targetId, state: 'waiting', $expr: isDue, _id: { $ne: _id } }, { _id: 1 })
    .sort({ nextTryAt: 1 })
    .limit(maxBatch - 1)
    .lean<Pick<EventDelivery, '_id'>[]>()
    .exec();
  const ids = found.map((row) => row._id);
  // Spares other claims skipping the rows.
  const postponed = { nextTryAt: later(leaseMs) };
  const leased = await leaseDeliveries<EventDelivery, ClaimedDelivery>(db.eventDeliveries, ids, postponed);
  const places = new Map(ids.map((id, place) => [id, place]));
  return leased.sort((a, b) => (places.get(a._id) ?? 0) - (places.get(b._id) ?? 0));
}

/** Splits statements into batches that an LRS accepts by size. */
export function batchesOf(rows: readonly ClaimedDelivery[]): ClaimedDelivery[][] {
  const batches: ClaimedDelivery[][] = [];
  let size = Infinity;
  for (const row of rows) {
    size += row.body.length;
    if (size > maxBatchCharacters) {
      batches.push([]);
      size = row.body.length;
    }
    batches.at(-1)?.push(row);
  }
  return batches;
}
