import type { Database } from '../models/database.ts';
import {
  claimEventDelivery,
  findDueEventTargets,
  insertDeliveries,
  releaseEventDeliveries,
} from '../models/event-delivery.ts';
import type { EventDelivery, EventDeliveryDb, NewDelivery, SourceKind } from '../models/event-delivery.ts';
import { isDatabaseError } from '../platform/mongo.ts';
import type { Logger } from '../platform/log.ts';

/* Rows of the outbox that workers replace by the rows to send. */

/** MongoDB's driver prints all rows of an insert at once. */
const rowsPerInsert = 250;

/** The retry delay for a row that cannot be replaced: another release may be able to. */
const retryMs = 3_600_000;

/** An organization's turn ends with the first row after this time. */
const turnMs = 250;

/** How the rows of a kind are replaced. */
export interface Replacement<Receiver> {
  kind: SourceKind;
  /** Returns the receivers in an organization. */
  receiversOf: (organizationId: string) => Promise<readonly Receiver[]>;
  /** Returns the rows to send; their ids follow from the row's, so that a repetition adds nothing. */
  rowsFor: (row: EventDelivery, receivers: readonly Receiver[]) => Promise<NewDelivery[]>;
}

/**
 * Replaces the due rows of a kind until none is left. Organizations take turns, so one waits for a turn of each other one at
 * most. Workers lease rows, so each replaces others.
 *
 * @param signal ends it after the current row.
 */
export async function replaceRows<Receiver>(
  { db, log }: { db: Database; log: Logger },
  { kind, receiversOf, rowsFor }: Replacement<Receiver>,
  signal: AbortSignal,
): Promise<void> {
  const isEnding = () => signal.aborted;
  const takeTurn = async (organizationId: string): Promise<boolean> => {
    const receivers = await receiversOf(organizationId);
    const endsAt = performance.now() + turnMs;
    for (let replaced = 0; ; replaced += 1) {
      if (isEnding() || performance.now() > endsAt) return true;
      const row = await claimEventDelivery(db, kind, organizationId);
      if (row === null) return replaced > 0;
      try {
        await replaceRow(db, row._id, receivers.length > 0 ? await rowsFor(row, receivers) : []);
      } catch (error) {
        // Other errors are about this row only.
        if (isDatabaseError(error)) throw error;
        log.error({ err: error, row: row._id, kind }, 'an event cannot be made; retried after an hour');
        await releaseEventDeliveries(db, [row], retryMs);
      }
    }
  };
  for (let isAnyLeft = true; isAnyLeft && !isEnding();) {
    isAnyLeft = false;
    for (const { target } of await findDueEventTargets(db, kind))
      if (!isEnding() && (await takeTurn(target))) isAnyLeft = true;
  }
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
