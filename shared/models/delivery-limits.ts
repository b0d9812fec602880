import type { EventDelivery, EventDeliveryDb } from './event-delivery.ts';

/** The limit of an organization's waiting rows: from this number on, no more events are recorded. */
export const maxWaitingRows = 500_000;

/** The limits of an organization's delivered rows and of its failed ones. */
export const maxEndedRows = 100_000;

const trimmedAtOnce = 20_000;

/** Returns the number of an organization's waiting rows, up to a limit. */
export function countWaiting(db: EventDeliveryDb, organizationId: string, limit: number): Promise<number> {
  return db.eventDeliveries.countDocuments({ organizationId, state: 'waiting' }, { limit }).exec();
}

/** Deletes the oldest delivered rows, and the oldest failed ones, of each organization that has too many. */
export async function trimDeliveries(
  db: EventDeliveryDb,
  signal: AbortSignal,
  kept = maxEndedRows,
): Promise<void> {
  const organizations = await db.eventDeliveries.distinct('organizationId').exec();
  for (const organizationId of organizations) {
    for (const state of ['idle', 'failed'] as const) {
      while (!signal.aborted && (await trimOnce(db, { organizationId, state }, kept)));
    }
  }
}

/** Returns whether there may be more. */
async function trimOnce(
  db: EventDeliveryDb,
  filter: Pick<EventDelivery, 'organizationId' | 'state'>,
  kept: number,
): Promise<boolean> {
  const surplus = await db.eventDeliveries
    .find(filter, { _id: 1 })
    .sort({ createdAt: -1 })
    .skip(kept)
    .limit(trimmedAtOnce)
    .lean<Pick<EventDelivery, '_id'>[]>()
    .exec();
  if (surplus.length === 0) return false;
  await db.eventDeliveries.deleteMany({ _id: { $in: surplus.map(({ _id }) => _id) }, state: filter.state });
  return surplus.length === trimmedAtOnce;
}
