import { once } from 'node:events';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Config } from '../platform/config.ts';
import { LecternError, messageOf } from '../platform/errors.ts';
import { findMongod } from './find-mongod.ts';
import { instanceOf, startMongod } from './mongod.ts';
import { startRedis } from './redis.ts';

export interface Servers {
  mongodbUri: string;
  redisUrl: string;
  /** Rejects when embedded servers end unexpectedly. */
  failed: Promise<never>;
  /** Stops the servers that this process started. */
  release(): Promise<void>;
}

export type ServerUrls = Pick<Servers, 'mongodbUri' | 'redisUrl'>;

/** How long another process may take to start its servers, or to stop them. */
const waitTimeoutMs = 60_000;
/** Its owner names the servers of a data directory in this file, for other processes. */
const fileName = 'servers.json';
const ServersFile = z.object({ mongodbUri: z.string(), redisUrl: z.string(), instance: z.string() });

/**
 * Returns the MongoDB and Redis that run on the data directory. If none do, starts them as children of this process,
 * with which they end, even after SIGKILL. When two processes start at once, MongoDB's lock on its data elects the owner,
 * and the other one waits for the file.
 *
 * @throws an error for the user when no MongoDB is available, or a server does not start.
 */
export async function acquireEmbeddedServers(
  { dataDir, cacheDir }: Pick<Config, 'dataDir' | 'cacheDir'>,
  report: (message: string) => void,
): Promise<Servers> {
  if (process.platform === 'win32')
    throw new Error('The embedded servers need Linux or macOS: set MONGODB_URI and REDIS_URL.');
  const folder = resolve(dataDir);
  const running = await findRunning(folder);
  if (running) return running;
  const binary = await findMongod(cacheDir, report);
  report('Starting MongoDB');
  for (const giveUpAt = performance.now() + waitTimeoutMs; ;) {
    try {
      return await start(folder, binary);
    } catch (error) {
      const isOwnedByAnother = messageOf(error).includes('DBPathInUse');
      if (!isOwnedByAnother || performance.now() > giveUpAt) throw error;
    }
    await delay(500);
    const started = await findRunning(folder);
    if (started) return started;
  }
}

/** Returns undefined if the servers of the file have ended, even if another program has their ports now. */
async function findRunning(folder: string): Promise<Servers | undefined> {
  try {
    const servers = ServersFile.parse(JSON.parse(await readFile(join(folder, fileName), 'utf8')));
    const running = await hold(servers, () => Promise.resolve());
    if ((await instanceOf(servers.mongodbUri)) === servers.instance) return running;
    await running.release();
  } catch {
    // There is no file, or a server does not respond.
  }
  return undefined;
}

async function start(folder: string, binary: string): Promise<Servers> {
  const mongod = await startMongod(binary, join(folder, 'mongodb'));
  try {
    const redis = await startRedis(join(folder, 'redis.log'));
    const servers = { mongodbUri: mongod.url, redisUrl: redis.url };
    const file = join(folder, fileName);
    const content = JSON.stringify({ ...servers, instance: await instanceOf(mongod.url) });
    await writeFile(`${file}.new`, content, { mode: 0o600 });
    await rename(`${file}.new`, file);
    return await hold(servers, async () => {
      await rm(file, { force: true });
      await Promise.all([mongod.stop(), redis.stop()]);
    });
  } catch (error) {
    await mongod.stop();
    throw error;
  }
}

/** Keeps a connection to each server, which carries nothing, and which shows when the server ends. */
async function hold({ mongodbUri, redisUrl }: ServerUrls, stop: () => Promise<unknown>): Promise<Servers> {
  const ports = [mongodbUri, redisUrl].map((url) => Number(new URL(url).port));
  const sockets = ports.map((port) => connect(port, '127.0.0.1').unref());
  // An error also closes the connection.
  for (const socket of sockets) socket.on('error', () => undefined);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const failed = new Promise<never>((_resolve, reject) => {
    const message = 'The embedded servers have ended, or the process that started them. Start Lectern again.';
    const lost = () => reject(new LecternError('INTERNAL_ERROR', message));
    for (const socket of sockets) socket.once('close', lost);
  });
  failed.catch(() => undefined);
  const release = async () => {
    for (const socket of sockets) socket.removeAllListeners('close').destroy();
    await stop();
  };
  return { mongodbUri, redisUrl, failed, release };
}
