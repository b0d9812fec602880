import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import mongoose from 'mongoose';
import { freePort, startServer } from './child-process.ts';
import type { RunningServer } from './child-process.ts';

const replicaSet = 'lectern';
const selectionTimeoutMs = 15_000;

/** A server of this machine; the URL is like the setting for it. */
export type LocalServer = RunningServer & { readonly port: number; readonly url: string };

/**
 * Starts a replica set of one mongod on loopback, on a free port by default; resolves once it accepts writes. `stop()`
 * closes its files, `kill()` does not; it can restart from either. The log is beside the data folder.
 *
 * @throws an error with the end of the log, which contains "DBPathInUse" if another mongod has locked the data folder.
 */
export async function startMongod(binary: string, dbPath: string, onPort?: number): Promise<LocalServer> {
  const port = onPort ?? (await freePort());
  const host = `127.0.0.1:${port}`;
  await mkdir(dbPath, { recursive: true, mode: 0o700 });
  const server = await startServer({
    name: 'MongoDB',
    command: binary,
    args: [
      ...['--dbpath', dbPath, '--bind_ip', '127.0.0.1', '--port', String(port), '--nounixsocket', '--quiet'],
      ...['--wiredTigerCacheSizeGB', '0.25', '--replSet', replicaSet, '--oplogSize', '64'],
      ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
      // No reader needs the past; otherwise MongoDB keeps each version of a document for five minutes.
      ...['--setParameter', 'minSnapshotHistoryWindowInSeconds=0'],
    ],
    ready: /waiting for connections/i,
    logFile: `${dbPath}.log`,
  });
  const url = `mongodb://${host}/lectern?replicaSet=${replicaSet}`;
  try {
    await becomeOnlyMember(host);
    await instanceOf(url);
  } catch (error) {
    server.kill();
    throw error;
  }
  return { ...server, port, url };
}

/** The configuration in the data names the port of the last start, so the server does not find itself there. */
async function becomeOnlyMember(host: string): Promise<void> {
  await withAdmin<unknown>(`mongodb://${host}/?directConnection=true`, async (admin) => {
    const members = [{ _id: 0, host }];
    const stored = await admin.command({ replSetGetConfig: 1 }).catch(() => null);
    const command =
      stored === null
        ? { replSetInitiate: { _id: replicaSet, members } }
        : { replSetReconfig: { ...(stored['config'] as object), members }, force: true };
    for (const giveUpAt = performance.now() + selectionTimeoutMs; ;) {
      try {
        return await admin.command(command);
      } catch (error) {
        // The server still reads the stored configuration.
        const isBusy = (error as { codeName?: string }).codeName === 'ConfigurationInProgress';
        if (!isBusy || performance.now() > giveUpAt) throw error;
      }
      await delay(50);
    }
  });
}

/** Waits until the server accepts writes; returns its id, which each start changes. */
export async function instanceOf(url: string): Promise<string> {
  return withAdmin(url, async (admin) => {
    const { topologyVersion } = await admin.command({ hello: 1 });
    return String((topologyVersion as { processId: unknown }).processId);
  });
}

async function withAdmin<T>(url: string, use: (admin: mongoose.mongo.Db) => Promise<T>): Promise<T> {
  const client = new mongoose.mongo.MongoClient(url, { serverSelectionTimeoutMS: selectionTimeoutMs });
  try {
    return await use(client.db('admin'));
  } finally {
    await client.close();
  }
}
