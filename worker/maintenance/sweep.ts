import type { Redis } from 'ioredis';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Database } from '../../shared/models/database.ts';
import { removeUnfinishedImports } from '../../shared/packages/unfinished-imports.ts';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { removeUnusedReleases } from '../../shared/widgets/releases.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { Evicted, Evictor } from './eviction/evictor.ts';

const sweepIntervalMs = 10 * 60 * 1000;

/** What nobody wrote to for this long belongs to a process that is gone: every write has a shorter deadline. */
const abandonedSeconds = 3600;

/** An import has no deadline: a large package on a slow disk takes its time. */
const abandonedImportSeconds = 24 * 3600;

/** An import stores the files of widgets minutes before it refers to them. */
const unusedSeconds = 24 * 3600;

/** How long no worker sweeps again what all of them share: less than the pause between two sweeps. */
const turnMs = 9 * 60 * 1000;

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
 * Removes what crashed processes left behind, and what the store has no room for: now, and from time to time. Of all
 * workers one does so.
 */
export function startSweeping(deps: SweepDependencies): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  const start = () => {
    running ??= sweep(deps, stopping.signal).finally(() => (running = null));
  };
  start();
  const timer = setInterval(start, sweepIntervalMs);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort(new Error('this process ends'));
      await running;
    },
  };
}

async function sweep(deps: SweepDependencies, signal: AbortSignal): Promise<void> {
  const { log } = deps;
  try {
    await removeUnfinished(deps, signal);
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'sweeping failed; it is tried again later');
  }
  try {
    if (!signal.aborted) await evict(deps, signal);
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'evicting failed; it is tried again later');
  }
}

async function removeUnfinished(
  { db, store, redis, config, log }: SweepDependencies,
  signal: AbortSignal,
): Promise<void> {
  const turn = await redis.set(`${config.redisPrefix}:sweep:turn`, '1', 'PX', turnMs, 'NX');
  if (turn === null) return;
  const files = await store.sweepTemporaries(Math.max(abandonedSeconds, config.export.buildSeconds), signal);
  signal.throwIfAborted();
  const imports = await removeUnfinishedImports(db, abandonedImportSeconds);
  const releases = await removeUnusedReleases(db, unusedSeconds);
  const assets = await removeUnusedAssets(db, store, unusedSeconds, signal);
  if (files + imports + releases + assets > 0)
    log.info({ files, imports, releases, assets }, 'removed what was left unfinished');
}

async function evict({ evictor, onEvicted, log }: SweepDependencies, signal: AbortSignal): Promise<void> {
  const evicted = await evictor.takeTurn(signal);
  if (evicted === null || evicted.files === 0) return;
  onEvicted(evicted);
  log.info(evicted, 'evicted what was used longest ago');
}
