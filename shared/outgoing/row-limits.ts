import type { Database } from '../models/database.ts';
import { countDeliveries, maxWaitingRows, trimDeliveries } from '../models/delivery-limits.ts';
import type { Logger } from '../platform/log.ts';

/** The limits of an organization's rows in the outbox. */
export interface RowLimits {
  /** At this number, events of learners' records wait in the backlog, and other events wait in their documents. */
  maxWaiting: number;
  /** Above this number, the oldest delivered rows are deleted, and the oldest failed ones. */
  maxEnded: number;
  /** How long a count is valid. */
  cacheMs: number;
}

export const defaultRowLimits: RowLimits = { maxWaiting: maxWaitingRows, maxEnded: 100_000, cacheMs: 10_000 };
const trimmedAtOnce = 20_000;

/** The last count of each organization's rows: its time, and whether there were too many. */
const counted = new WeakMap<Database, Map<string, { at: number; isFull: boolean }>>();

/**
 * Returns the organizations with too many waiting rows. Deletes the oldest ended rows of organizations with too many of
 * these.
 */
export async function fullOutboxes(
  { db, log }: { db: Database; log: Logger },
  organizationIds: readonly string[],
  { maxWaiting, maxEnded, cacheMs }: RowLimits,
): Promise<Set<string>> {
  const counts = counted.get(db) ?? new Map<string, { at: number; isFull: boolean }>();
  counted.set(db, counts);
  const now = performance.now();
  for (const [id, { at }] of counts) if (now - at >= cacheMs) counts.delete(id);
  for (const id of organizationIds.filter((one) => !counts.has(one))) {
    // For MongoDB, a limit of 0 means no limit.
    const isFull = (await countDeliveries(db, id, 'waiting', maxWaiting + 1)) >= maxWaiting;
    if (isFull) {
      const details = { organization: id, rows: maxWaiting };
      log.warn(details, 'an organization has too many undelivered events; new ones wait in the backlog');
    }
    counts.set(id, { at: now, isFull });
    for (const state of ['idle', 'failed'] as const) {
      if ((await countDeliveries(db, id, state, maxEnded + 1)) <= maxEnded) continue;
      await trimDeliveries(db, id, state, { kept: maxEnded, limit: trimmedAtOnce });
    }
  }
  return new Set(organizationIds.filter((id) => counts.get(id)?.isFull === true));
}
