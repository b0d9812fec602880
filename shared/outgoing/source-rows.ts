import { isDue } from '../deliveries/outbox.ts';
import type { Database } from '../models/database.ts';
import { findDueEventTargets, insertDeliveries } from '../models/event-delivery.ts';
import type { EventDelivery, EventDeliveryDb, NewDelivery, SourceKind } from '../models/event-delivery.ts';
import { isDatabaseError } from '../platform/mongo.ts';
import type { Logger } from '../platform/log.ts';

/* Rows of the outbox that workers replace by the rows to send. */

/** MongoDB's driver prints all rows of an insert at once. */
const rowsPerInsert = 250;

/** Rows per query: each has 200 kB at most. */
const batchSize = 10;

/** The retry delay for a row that cannot be replaced: another release may be able to. */
const retryMs = 3_600_000;

/** How long one call goes on: what is left waits for the next one, so that other rows are sent meanwhile. */
const turnMs = 1_000;

/** How the rows of a kind are replaced. */
export interface Replacement<Receiver> {
  kind: SourceKind;
  /** Returns the receivers in an organization. */
  receiversOf: (organizationId: string) => Promise<readonly Receiver[]>;
  /** Returns the rows to send; their ids follow from the row's, so that a repetition adds nothing. */
  rowsFor: (row: EventDelivery, receivers: readonly Receiver[]) => Promise<NewDelivery[]>;
}

/**
 * Replaces the due rows of a kind, a few of each organization in turn.
 *
 * @param signal ends it after the current row.
 */
export async function replaceRows<Receiver>(
  { db, log }: { db: Database; log: Logger },
  { kind, receiversOf, rowsFor }: Replacement<Receiver>,
  signal: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + turnMs;
  const isOver = () => signal.aborted || performance.now() > endsAt;
  for (let isLast = false; !isLast && !isOver();) {
    const due = await findDueEventTargets(db, kind);
    isLast = due.length === 0;
    for (const { target: organizationId } of due) {
      const receivers = await receiversOf(organizationId);
      for (const row of await findDueRows(db, kind, organizationId)) {
        if (isOver()) return;
        try {
          await replaceRow(db, row._id, receivers.length > 0 ? await rowsFor(row, receivers) : []);
        } catch (error) {
          // Other errors are about this row only.
          if (isDatabaseError(error)) throw error;
          log.error({ err: error, row: row._id, kind }, 'an event cannot be made; retried after an hour');
          const nextTryAt = new Date(Date.now() + retryMs);
          await db.eventDeliveries.updateOne({ _id: row._id }, { $set: { nextTryAt } });
        }
      }
    }
  }
}

/** Returns an organization's due rows of a kind, the oldest first. */
function findDueRows(
  db: EventDeliveryDb,
  kind: SourceKind,
  organizationId: string,
): Promise<EventDelivery[]> {
  return db.eventDeliveries
    .find({ kind, state: 'waiting', targetId: organizationId, $expr: isDue })
    .sort({ nextTryAt: 1 })
    .limit(batchSize)
    .lean<EventDelivery[]>()
    .exec();
}

/**
 * Not one transaction, because thousands of rows may not fit into MongoDB's cache. Making the rows may take long, so an
 * erasure may have removed the row meanwhile.
 */
async function replaceRow(db: EventDeliveryDb, id: string, rows: NewDelivery[]): Promise<void> {
  while (rows.length > 0 && (await db.eventDeliveries.exists({ _id: id })) !== null)
    await insertDeliveries(db, rows.splice(0, rowsPerInsert));
  await db.eventDeliveries.deleteOne({ _id: id });
}
