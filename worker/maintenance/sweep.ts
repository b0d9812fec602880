import type { Redis } from 'ioredis';
import { removeUnusedRecords } from '../../shared/exports/unused-records.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';
import type { Database } from '../../shared/models/database.ts';
import { removeUnfinishedImports } from '../../shared/packages/unfinished-imports.ts';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { removeUnusedReleases } from '../../shared/widgets/releases.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { Evicted, Evictor } from './eviction/evictor.ts';

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
  evictor: Evictor;
  onEvicted: (evicted: Evicted) => void;
  config: Pick<Config, 'export' | 'redisPrefix'>;
  log: Logger;
}

/**
 * Sweeps now and at intervals: removes the remains of crashed processes, and evicts files beyond the store's limits.
 * In each interval, one worker removes the remains for all.
 */
export function startSweeping(deps: SweepDependencies): Repetition {
  return repeat(
    (signal) => sweep(deps, signal),
    sweepIntervalMs,
    (error) => deps.log.warn({ err: error }, 'eviction failed; the next sweep retries'),
  );
}

async function sweep(deps: SweepDependencies, signal: AbortSignal): Promise<void> {
  try {
    await removeUnfinished(deps, signal);
  } catch (error) {
    signal.throwIfAborted();
    deps.log.warn({ err: error }, 'sweep failed; the next one retries');
  }
  signal.throwIfAborted();
  await evict(deps, signal);
}

async function removeUnfinished(
  { db, store, redis, config, log }: SweepDependencies,
  signal: AbortSignal,
): Promise<void> {
  const isTurn = await redis.set(`${config.redisPrefix}:sweep:turn`, '1', 'PX', minIntervalMs, 'NX');
  if (isTurn === null) return;
  const files = await store.sweepTemporaries(Math.max(abandonedSeconds, config.export.buildSeconds), signal);
  signal.throwIfAborted();
  const imports = await removeUnfinishedImports(db, abandonedImportSeconds);
  const releases = await removeUnusedReleases(db, unusedSeconds);
  const assets = await removeUnusedAssets(db, store, unusedSeconds, signal);
  const records = await removeUnusedRecords({ db, store }, signal);
  if (records > 0)
    log.info({ records }, 'removed records of archives that are gone and were last built 180 days ago');
  if (files + imports + releases + assets > 0)
    log.info({ files, imports, releases, assets }, 'removed the remains of unfinished work');
}

async function evict({ evictor, onEvicted, log }: SweepDependencies, signal: AbortSignal): Promise<void> {
  const evicted = await evictor.keepLimitsIfDue(signal);
  if (evicted === null || evicted.files === 0) return;
  onEvicted(evicted);
  log.info(evicted, 'evicted the least recently used files');
}
