import type { Model } from 'mongoose';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Database } from '../models/database.ts';
import { countDeliveries, maxWaitingRows, trimDeliveries } from '../models/delivery-limits.ts';
import { noteMissed } from '../models/missed-events.ts';
import type { Receiver } from '../models/missed-events.ts';
import type { Logger } from '../platform/log.ts';
import { repeat } from '../platform/repeat.ts';
import type { Repetition } from '../platform/repeat.ts';

/** The limits of an organization's rows in the outbox. */
export interface RowLimits {
  /** From this number on, no more events are recorded. */
  maxWaiting: number;
  /** Above this number, the oldest delivered rows are deleted, and the oldest failed ones. */
  maxEnded: number;
}

export const defaultRowLimits: RowLimits = { maxWaiting: maxWaitingRows, maxEnded: 100_000 };
const trimmedAtOnce = 20_000;
const intervalMs = 10_000;

/** Applies the limits every ten seconds, and reports how full the fullest outbox is. */
export function startLimitingRows(db: Database, registry: Registry, log: Logger): Repetition {
  const gauge = new Gauge({
    name: 'lectern_outbox_fill_ratio',
    help: 'The waiting events of the organization that has most, as a share of the limit. At 1, events are not recorded.',
    registers: [registry],
  });
  return repeat(
    async () => gauge.set(await limitRows(db, log)),
    intervalMs,
    () => undefined,
  );
}

/**
 * Counts the rows of each organization. While too many wait, its receivers note since when they miss events. Deletes the
 * oldest ended rows above the limit.
 *
 * @returns the share of the limit that the fullest outbox has.
 */
export async function limitRows(
  db: Database,
  log: Logger,
  { maxWaiting, maxEnded }: RowLimits = defaultRowLimits,
): Promise<number> {
  const receivers = [db.webhooks, db.xapiDestinations] as unknown as Model<Receiver>[];
  const ids = await Promise.all(receivers.map((model) => model.distinct('organizationId').exec()));
  let fullest = 0;
  for (const id of new Set(ids.flat())) {
    const waiting = await countDeliveries(db, id, 'waiting', maxWaiting);
    fullest = Math.max(fullest, waiting / maxWaiting);
    const isFull = waiting >= maxWaiting;
    const hasChanged = await Promise.all(receivers.map((model) => noteMissed(model, id, isFull)));
    if (isFull && hasChanged.includes(true)) {
      const details = { organization: id, rows: maxWaiting };
      log.warn(details, 'an organization has too many undelivered events; new ones are not recorded');
    }
    for (const state of ['idle', 'failed'] as const) {
      if ((await countDeliveries(db, id, state, maxEnded + 1)) <= maxEnded) continue;
      await trimDeliveries(db, id, state, { kept: maxEnded, limit: trimmedAtOnce });
    }
  }
  return fullest;
}
