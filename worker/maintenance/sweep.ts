import type { Redis } from 'ioredis';
import { removeUnusedRecords } from '../../shared/exports/unused-records.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';
import type { Database } from '../../shared/models/database.ts';
import { trimDeliveries } from '../../shared/models/delivery-limits.ts';
import { removeUnusedKeySets } from '../../shared/models/lti-platform.ts';
import { removeUnfinishedImports } from '../../shared/packages/unfinished-imports.ts';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { removeUnusedReleases } from '../../shared/widgets/releases.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { StoreLimits } from '../../shared/storage/store-limits.ts';
import { keepLimits } from './evict.ts';
import type { Evicted } from './evict.ts';

const sweepIntervalMs = 10 * 60 * 1000;

/** Files without a write for this long belong to a dead process, because every write has a shorter timeout. */
const abandonedSeconds = 3600;

/** Imports have no timeout, because a large package on a slow disk takes long. */
const abandonedImportSeconds = 24 * 3600;

/** Imports store widget files minutes before they refer to them. */
const unusedSeconds = 24 * 3600;

/** The minimum time between two sweeps of the shared data. Shorter than the interval of each worker's sweeps. */
const minIntervalMs = 9 * 60 * 1000;

interface SweepDependencies {
  db: Database;
  store: Store;
  redis: Redis;
  limits: StoreLimits;
  observer: { evicted(evicted: Evicted): void };
  config: Pick<Config, 'export' | 'redisPrefix'>;
  log: Logger;
}

/**
 * Sweeps now and at intervals: removes the remains of crashed processes, and evicts files beyond the store's limits. In
 * each interval, one worker does so for all.
 */
export function startSweeping(deps: SweepDependencies): Repetition {
  return repeat(
    async (signal) => {
      const key = `${deps.config.redisPrefix}:sweep:turn`;
      if ((await deps.redis.set(key, '1', 'PX', minIntervalMs, 'NX')) === null) return;
      await removeUnfinished(deps, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        deps.log.warn({ err: error }, 'sweep failed; the next one retries');
      });
      await evict(deps, signal);
    },
    sweepIntervalMs,
    (error) => deps.log.warn({ err: error }, 'eviction failed; the next sweep retries'),
  );
}

async function removeUnfinished(
  { db, store, config, log }: SweepDependencies,
  signal: AbortSignal,
): Promise<void> {
  const files = await store.sweepTemporaries(Math.max(abandonedSeconds, config.export.buildSeconds), signal);
  signal.throwIfAborted();
  const imports = await removeUnfinishedImports(db, abandonedImportSeconds);
  const releases = await removeUnusedReleases(db, unusedSeconds);
  const assets = await removeUnusedAssets(db, store, unusedSeconds, signal);
  const records = await removeUnusedRecords({ db, store }, signal);
  if (records > 0)
    log.info({ records }, 'removed records of archives that are gone and were last built 180 days ago');
  await trimDeliveries(db, signal);
  const keySets = await removeUnusedKeySets(db);
  if (files + imports + releases + assets + keySets > 0)
    log.info({ files, imports, releases, assets, keySets }, 'removed the remains of unfinished work');
}

async function evict(
  { store, limits, observer, log }: SweepDependencies,
  signal: AbortSignal,
): Promise<void> {
  const evicted = await keepLimits(store, limits, signal);
  if (evicted.files === 0) return;
  observer.evicted(evicted);
  log.info(evicted, 'evicted files that were unused for a long time');
}
