import type { Config } from '../shared/config.ts';
import type { Logger } from '../shared/log.ts';
import type { Database } from '../shared/models/database.ts';
import { removeUnfinishedImports } from '../shared/packages/unfinished-imports.ts';
import { removeUnusedAssets } from '../shared/stored-assets.ts';
import type { Store } from '../shared/storage/store.ts';
import type { Evicted, Evictor } from './eviction/evictor.ts';

const sweepMilliseconds = 10 * 60 * 1000;

/** What nobody wrote to for this long belongs to a process that is gone: every write has a shorter deadline. */
const abandonedSeconds = 3600;

/** An import has no deadline: a large package on a slow disk takes its time. */
const abandonedImportSeconds = 24 * 3600;

/** An import stores the files of widgets minutes before it refers to them. */
const unusedSeconds = 24 * 3600;

/** Removes what crashed processes left behind, and what the store has no room for: now, and from time to time. */
export function startSweeping({
  db,
  store,
  evictor,
  onEvicted,
  config,
  log,
}: {
  db: Database;
  store: Store;
  evictor: Evictor;
  onEvicted: (evicted: Evicted) => void;
  config: Pick<Config, 'export'>;
  log: Logger;
}): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  const evict = async () => {
    try {
      const evicted = await evictor.takeTurn(stopping.signal);
      if (evicted === null || evicted.files === 0) return;
      onEvicted(evicted);
      log.info(evicted, 'evicted what was used longest ago');
    } catch (error) {
      log.warn({ err: error }, 'evicting failed; it is tried again later');
    }
  };
  const sweep = async () => {
    try {
      const files = await store.sweepTemporaries(Math.max(abandonedSeconds, config.export.buildSeconds));
      const imports = await removeUnfinishedImports(db, abandonedImportSeconds);
      const assets = await removeUnusedAssets(db, store, unusedSeconds);
      if (files + imports + assets > 0)
        log.info({ files, imports, assets }, 'removed what was left unfinished');
    } catch (error) {
      log.warn({ err: error }, 'sweeping failed; it is tried again later');
    }
    await evict();
  };
  const start = () => {
    running = running.then(sweep);
  };
  start();
  const timer = setInterval(start, sweepMilliseconds);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort(new Error('this process ends'));
      await running;
    },
  };
}
