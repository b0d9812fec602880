import type { Config } from '../shared/config.ts';
import { createDownloader } from '../shared/downloads/downloader.ts';
import type { Logger } from '../shared/log.ts';
import { buildIndexes, openDatabase } from '../shared/models/database.ts';
import { connectFastRedis } from '../shared/redis.ts';
import type { Servers } from '../shared/servers.ts';
import { createSharing } from '../shared/sharing/sharing.ts';
import type { Shutdown } from '../shared/shutdown.ts';
import { createStore } from '../shared/storage/create-store.ts';
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
  const store = await createStore(config);
  await store.check();
  const db = await openDatabase(servers.mongodbUri);
  await buildIndexes(db);
  const downloader = createDownloader(config.download);
  const redis = await connectFastRedis(servers.redisUrl);
  const sharing = createSharing(redis, config);
  const sweeping = startSweeping({ db, store, config, log });
  const worker = createExportWorker(servers.redisUrl, { db, store, downloader, sharing, config, log });
  await worker.ready();

  // It takes no more jobs, and finishes those it has.
  shutdown.add('worker', () => worker.close());
  shutdown.add('sweeping', () => sweeping.stop());
  shutdown.add('downloads', () => Promise.resolve(downloader.close()));
  shutdown.add('redis', () => Promise.resolve(redis.disconnect()));
  shutdown.add('mongodb', () => db.connection.close());
}
