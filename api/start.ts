import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../shared/config.ts';
import { LecternError, messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { buildIndexes, openDatabase } from '../shared/models/database.ts';
import { createExportEvents, createExportQueue } from '../shared/queues.ts';
import { connectRedis } from '../shared/redis.ts';
import { loadSecrets } from '../shared/secrets.ts';
import type { Servers } from '../shared/servers.ts';
import type { Shutdown } from '../shared/shutdown.ts';
import { createDiskStore } from '../shared/storage/disk-store.ts';
import { createApp } from './app.ts';
import { JobWaiters } from './exports/job-waiters.ts';

/**
 * Connects, listens, and adds to the shutdown what must be closed.
 *
 * @returns the port it listens on.
 * @throws {LecternError} naming what does not answer, or the port that is taken, and what to do.
 */
export async function startApi(
  config: Config,
  servers: Servers,
  { log, shutdown }: { log: Logger; shutdown: Shutdown },
): Promise<number> {
  const secrets = await loadSecrets(config, (message) => log.warn(message));
  const store = createDiskStore(config.storeDir);
  await store.check();
  const db = await openDatabase(servers.mongodbUri);
  await buildIndexes(db);
  const redis = await connectRedis(servers.redisUrl);
  const queue = createExportQueue(redis, config);
  const events = createExportEvents(servers.redisUrl, config);
  const waiters = new JobWaiters(events);

  const exports = { archives: store.archives, queue, waiters, config, log };
  const app = createApp({ config, secrets, db, redis, store, queue, exports, log });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(describeListenError(error, config.port)));
    server.listen(config.port, config.host, resolve);
  });

  shutdown.add('http', () => {
    // Idle connections end now, and those that are serving when they are done.
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    return closed;
  });
  shutdown.add('queue', async () => {
    await events.close();
    await queue.close();
    redis.disconnect();
  });
  shutdown.add('mongodb', () => db.connection.close());
  return (server.address() as AddressInfo).port;
}

function describeListenError(error: Error, port: number): Error {
  if (!('code' in error) || error.code !== 'EADDRINUSE') return error;
  return new LecternError(
    'INTERNAL_ERROR',
    `Port ${port} is in use (${messageOf(error)}). Stop the process that uses it, or set PORT to a free one.`,
    { cause: error },
  );
}
