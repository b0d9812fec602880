import type { Config } from '../shared/config.ts';
import { createDownloader } from '../shared/downloads/downloader.ts';
import type { Logger } from '../shared/log.ts';
import { buildIndexes, openDatabase } from '../shared/models/database.ts';
import { connectFastRedis } from '../shared/redis.ts';
import type { Servers } from '../shared/servers.ts';
import { createSharing } from '../shared/sharing/sharing.ts';
import { trackUses } from '../shared/sharing/tracked-store.ts';
import type { Shutdown } from '../shared/shutdown.ts';
import { createStore } from '../shared/storage/create-store.ts';
import { Evictor } from './eviction/evictor.ts';
import { startSweeping } from './sweep.ts';
import { createExportWorker } from './worker.ts';

/**
 * Connects, takes jobs, and adds to the shutdown what must be closed.
 *
 * @throws {LecternError} naming what does not answer, and what to do.
 */
export async function startWorker(
  config: Config,
  servers: Servers,
  { log, shutdown }: { log: Logger; shutdown: Shutdown },
): Promise<void> {
  const plainStore = await createStore(config);
  await plainStore.check();
  const db = await openDatabase(servers.mongodbUri);
  await buildIndexes(db);
  const downloader = createDownloader(config.download);
  const redis = await connectFastRedis(servers.redisUrl);
  const sharing = createSharing(redis, config);
  const store = trackUses(plainStore, sharing.uses);
  const evictor = new Evictor({ db, store, redis, config });
  const sweeping = startSweeping({ db, store, evictor, config, log });
  const worker = createExportWorker(servers.redisUrl, {
    db,
    store,
    downloader,
    sharing,
    makeRoom: (bytes) => evictor.makeRoom(bytes),
    config,
    log,
  });
  await worker.ready();

  // It takes no more jobs, and finishes those it has.
  shutdown.add('worker', () => worker.close());
  shutdown.add('sweeping', () => sweeping.stop());
  shutdown.add('downloads', () => Promise.resolve(downloader.close()));
  shutdown.add('redis', () => {
    sharing.uses.close();
    redis.disconnect();
    return Promise.resolve();
  });
  shutdown.add('mongodb', () => db.connection.close());
}
