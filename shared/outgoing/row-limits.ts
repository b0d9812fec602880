import type { Redis } from 'ioredis';
import type { Model } from 'mongoose';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Database } from '../models/database.ts';
import { countWaiting, maxWaitingRows } from '../models/delivery-limits.ts';
import { noteMissed } from '../models/missed-events.ts';
import type { Receiver } from '../models/missed-events.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import { repeat } from '../platform/repeat.ts';
import type { Repetition } from '../platform/repeat.ts';

const intervalMs = 10_000;

/**
 * Counts the waiting rows every ten seconds, in one worker for all, and reports how full the fullest outbox is. A worker
 * that does not count reports 0.
 */
export function startLimitingRows({
  db,
  redis,
  config,
  registry,
  log,
}: {
  db: Database;
  redis: Redis;
  config: Pick<Config, 'redisPrefix'>;
  registry: Registry;
  log: Logger;
}): Repetition {
  const gauge = new Gauge({
    name: 'lectern_outbox_fill_ratio',
    help: 'The waiting events of the organization that has most, as a share of the limit. At 1, events are not recorded.',
    registers: [registry],
  });
  const takeTurn = async () => {
    const taken = await redis.set(`${config.redisPrefix}:outbox:turn`, '1', 'PX', intervalMs - 1_000, 'NX');
    return taken !== null;
  };
  return repeat(
    async () => {
      // Without Redis, every worker counts.
      gauge.set((await takeTurn().catch(() => true)) ? await limitRows(db, log) : 0);
    },
    intervalMs,
    () => undefined,
  );
}

/**
 * Counts the waiting rows of each organization. While there are too many, its receivers note since when they miss events.
 *
 * @returns the share of the limit that the fullest outbox has.
 */
export async function limitRows(db: Database, log: Logger, maxWaiting = maxWaitingRows): Promise<number> {
  const receivers = [db.webhooks, db.xapiDestinations] as unknown as Model<Receiver>[];
  const ids = await Promise.all(receivers.map((model) => model.distinct('organizationId').exec()));
  let fullest = 0;
  for (const id of new Set(ids.flat())) {
    const waiting = await countWaiting(db, id, maxWaiting);
    fullest = Math.max(fullest, waiting / maxWaiting);
    const isFull = waiting >= maxWaiting;
    const hasChanged = await Promise.all(receivers.map((model) => noteMissed(model, id, isFull)));
    if (isFull && hasChanged.includes(true)) {
      const details = { organization: id, rows: maxWaiting };
      log.warn(details, 'an organization has too many undelivered events; new ones are not recorded');
    }
  }
  return fullest;
}
