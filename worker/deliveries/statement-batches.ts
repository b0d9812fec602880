import { later, leaseDeliveries, leaseMs } from '../../shared/deliveries/outbox.ts';
import type { ClaimedDelivery, EventDelivery, EventDeliveryDb } from '../../shared/models/event-delivery.ts';

/* Which statements go to a learning record store together, and in which order. */

/** The limits of one request: its statements, which also limit each claim, and their size. */
export const maxBatch = 50;
const maxBatchCharacters = 500_000;

/** Leases further rows of a claimed row's target that are due, those that have waited longest first. */
export async function claimMore(
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
  // Spares other claims skipping the rows.
  return leaseDeliveries<EventDelivery, ClaimedDelivery>(
    db.eventDeliveries,
    found.map((row) => row._id),
    { nextTryAt: later(leaseMs) },
  );
}

/**
 * Leases the first other statements of the writes too, also those that wait for a retry: an LRS gets the statements of a
 * write in their order.
 *
 * @returns the statements in the order to send them, and those that have to wait until another worker has sent earlier
 *   ones.
 */
export async function claimWholeWrites(
  db: EventDeliveryDb,
  claimed: readonly ClaimedDelivery[],
): Promise<{ ready: ClaimedDelivery[]; behind: ClaimedDelivery[] }> {
  const rest = await findRestOfSequences(db, claimed[0]?.targetId ?? '', claimed, maxBatch);
  const more = await leaseDeliveries<EventDelivery, ClaimedDelivery>(
    db.eventDeliveries,
    rest.map(({ _id }) => _id),
    { nextTryAt: later(leaseMs) },
    { evenEarly: true },
  );
  const leased = new Set(more.map(({ _id }) => _id));
  const firstElsewhere = new Map<string, number>();
  for (const { _id, sequence } of rest) {
    if (sequence === null || leased.has(_id)) continue;
    firstElsewhere.set(sequence.id, Math.min(sequence.place, firstElsewhere.get(sequence.id) ?? Infinity));
  }
  // Further statements, which were not looked at, have this place at least.
  const lastPlace = rest.length < maxBatch ? Infinity : (rest.at(-1)?.sequence?.place ?? Infinity);
  const isReady = ({ sequence }: ClaimedDelivery) =>
    sequence === null ||
    (sequence.place <= lastPlace && sequence.place < (firstElsewhere.get(sequence.id) ?? Infinity));
  const placeOf = ({ sequence }: ClaimedDelivery) => sequence?.place ?? 0;
  const sorted = [...claimed, ...more].sort(
    (a, b) => a.eventAt.getTime() - b.eventAt.getTime() || placeOf(a) - placeOf(b),
  );
  return { ready: sorted.filter(isReady), behind: sorted.filter((row) => !isReady(row)) };
}

/** A row in its sequence. */
type SequenceRow = Pick<EventDelivery, '_id' | 'sequence'>;

/**
 * Returns the other waiting rows of the sequences of rows to one target: those with the lowest places, in this order. A
 * worker may be sending some.
 */
function findRestOfSequences(
  db: EventDeliveryDb,
  targetId: string,
  rows: readonly SequenceRow[],
  limit: number,
): Promise<SequenceRow[]> {
  const ids = new Set(rows.flatMap(({ sequence }) => sequence?.id ?? []));
  if (ids.size === 0) return Promise.resolve([]);
  return db.eventDeliveries
    .find(
      {
        ...{ kind: 'xapi', state: 'waiting', targetId, 'sequence.id': { $in: [...ids] } },
        _id: { $nin: rows.map(({ _id }) => _id) },
      },
      { sequence: 1 },
    )
    .sort({ 'sequence.place': 1 })
    .limit(limit)
    .lean<SequenceRow[]>()
    .exec();
}

/** Splits statements into batches that an LRS accepts by size. */
export function batchesOf(rows: readonly ClaimedDelivery[]): ClaimedDelivery[][] {
  const batches: ClaimedDelivery[][] = [];
  let size = Infinity;
  for (const row of rows) {
    size += row.body.length;
    if (size > maxBatchCharacters || batches.at(-1)?.length === maxBatch) {
      batches.push([]);
      size = row.body.length;
    }
    batches.at(-1)?.push(row);
  }
  return batches;
}
