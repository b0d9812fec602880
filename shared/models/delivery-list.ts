import type { PipelineStage } from 'mongoose';
import { clearFailuresWhenIdle, later, noFailures } from '../deliveries/outbox.ts';
import { eventKinds, keptMs } from './event-delivery.ts';
import type { EventDelivery, EventDeliveryDb, EventKind } from './event-delivery.ts';

/* Deliveries of events for their owners: lists, resends and dismissals. */

/** The state of a delivery as its owner sees it. */
export const deliveryStatuses = ['pending', 'delivered', 'failed', 'dismissed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

export function statusOfDelivery({
  state,
  deliveredAt,
}: Pick<EventDelivery, 'state' | 'deliveredAt'>): DeliveryStatus {
  if (state === 'waiting') return 'pending';
  if (state === 'failed') return 'failed';
  return deliveredAt === null ? 'dismissed' : 'delivered';
}

const filterOfStatus: Record<DeliveryStatus, object> = {
  pending: { state: 'waiting' },
  delivered: { state: 'idle', deliveredAt: { $ne: null } },
  failed: { state: 'failed' },
  dismissed: { state: 'idle', deliveredAt: null },
};

/** A row for a receiver. */
export type ListedDelivery = EventDelivery & { kind: EventKind };

/** Selects rows of an organization. */
export interface DeliverySelection {
  organizationId: string;
  kind?: EventKind | undefined;
  targetId?: string | undefined;
  status?: DeliveryStatus | undefined;
  lessonId?: string | undefined;
  learnerId?: string | undefined;
}

function filterOf({ status, ...fields }: DeliverySelection) {
  const given = Object.entries(fields).filter(([, value]) => Boolean(value));
  return {
    kind: { $in: [...eventKinds] },
    ...Object.fromEntries(given),
    ...(status !== undefined && filterOfStatus[status]),
  };
}

/** Returns rows, newest first. @param options.after the last row of the previous page. */
export function listDeliveries(
  db: EventDeliveryDb,
  selection: DeliverySelection,
  { after, limit }: { after: Pick<EventDelivery, '_id' | 'createdAt'> | null; limit: number },
): Promise<ListedDelivery[]> {
  return db.eventDeliveries
    .find({
      ...filterOf(selection),
      ...(after !== null && {
        createdAt: { $lte: after.createdAt },
        $or: [
          { createdAt: { $lt: after.createdAt } },
          { createdAt: after.createdAt, _id: { $gt: after._id } },
        ],
      }),
    })
    .sort({ createdAt: -1, _id: 1 })
    .hint(listIndexOf(selection))
    .limit(limit)
    .lean<ListedDelivery[]>()
    .exec();
}

/** Without a hint, MongoDB may read all rows of an organization to find a few. */
function listIndexOf({ targetId, learnerId, lessonId, status }: DeliverySelection): Record<string, 1 | -1> {
  const newest = { createdAt: -1, _id: 1 } as const;
  if (targetId !== undefined) return { targetId: 1, ...newest };
  if (learnerId !== undefined) return { organizationId: 1, learnerId: 1, ...newest };
  if (lessonId !== undefined) return { organizationId: 1, lessonId: 1, ...newest };
  if (status !== undefined) return { organizationId: 1, state: 1, ...newest };
  return { organizationId: 1, ...newest };
}

/** Returns a row of a target; null if there is none. */
export function findDelivery(
  db: EventDeliveryDb,
  selection: DeliverySelection,
  id: string,
): Promise<ListedDelivery | null> {
  return db.eventDeliveries
    .findOne({ _id: id, ...filterOf(selection) })
    .lean<ListedDelivery>()
    .exec();
}

const retryNow: PipelineStage.Set = {
  $set: { state: 'waiting', nextTryAt: '$$NOW', deliveredAt: null, expiresAt: null, ...noFailures },
};

/** Sends rows again, with their ids. Rows that wait for a retry become due now. Returns the number of rows. */
export async function resendDeliveries(
  db: EventDeliveryDb,
  selection: DeliverySelection,
  which: { ids: readonly string[] } | { since: Date; until: Date },
): Promise<number> {
  const range =
    'ids' in which
      ? { _id: { $in: [...which.ids] } }
      : { createdAt: { $gte: which.since, $lt: which.until } };
  const { matchedCount } = await db.eventDeliveries.updateMany(
    // A delivered report of an erasure no longer has a body.
    { ...filterOf(selection), ...range, body: { $ne: '' } },
    [retryNow],
    { updatePipeline: true },
  );
  return matchedCount;
}

/** Makes all waiting deliveries of a destination due now, such as after a pause. */
export async function resumeDeliveries(
  db: EventDeliveryDb,
  { organizationId, targetId }: { organizationId: string; targetId: string },
): Promise<void> {
  const all = { since: new Date(0), until: new Date() };
  await resendDeliveries(db, { organizationId, targetId, status: 'pending' }, all);
}

/** Makes waiting and failed rows idle. Returns their number. */
export async function dismissEventDeliveries(
  db: EventDeliveryDb,
  selection: DeliverySelection,
  ids: readonly string[],
): Promise<number> {
  const { matchedCount } = await db.eventDeliveries.updateMany(
    { ...filterOf(selection), _id: { $in: [...ids] }, state: { $in: ['waiting', 'failed'] } },
    [{ $set: { state: 'idle', expiresAt: later(keptMs.delivered) } }, clearFailuresWhenIdle],
    { updatePipeline: true },
  );
  return matchedCount;
}
