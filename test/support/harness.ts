import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { inject } from 'vitest';
import { startApi } from '../../api/start.ts';
import { parseConfig } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { MongoLastUses } from '../../shared/models/file-use.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import type { ServerUrls } from '../../shared/embedded/embedded-servers.ts';
import { Shutdown } from '../../shared/platform/graceful-shutdown.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import type { Store } from '../../shared/storage/store.ts';
import { startWorker } from '../../worker/start.ts';

/** A Lectern for one test file: real servers, with its own database, key prefix and data directory. */
export interface Harness {
  config: Config;
  servers: ServerUrls;
  db: Database;
  store: Store;
  /** The environment that gives a child process the same configuration. */
  environment: Record<string, string>;
  /** Starts an API in this process; returns its URL, such as http://127.0.0.1:40123. */
  startApi(settings?: Record<string, string>): Promise<string>;
  /** Starts a worker in this process; returns a function that stops it. */
  startWorker(settings?: Record<string, string>): Promise<() => Promise<void>>;
  /** Stops the started processes and removes the written files. */
  close(): Promise<void>;
}

export const testPepper = 'a pepper for tests that is long enough';

export const testAssetSecret = 'an asset secret for tests that is long enough';

/** The first secret signs; both verify. */
export const testSigningSecrets = [
  { kid: 'new', secret: 'the newer signing secret of tests of 32 bytes and more' },
  { kid: 'old', secret: 'the older signing secret of tests of 32 bytes and more' },
] as const;

/** Names of this process's empty databases: building the indexes of another one takes longer than most test files. */
const spareDatabases: string[] = [];

/**
 * Starts a harness.
 *
 * @param settings override the defaults of tests; named as in the environment.
 */
export async function startHarness(settings: Record<string, string> = {}): Promise<Harness> {
  const name = `test-${randomBytes(6).toString('hex')}`;
  const dataDir = await mkdtemp(join(tmpdir(), 'lectern-test-'));
  const mongodb = new URL(inject('mongodbUri'));
  const spare = spareDatabases.pop();
  const database = spare ?? name;
  mongodb.pathname = `/${database}`;
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    PORT: '0',
    MONGODB_URI: mongodb.href,
    REDIS_URL: inject('redisUrl'),
    REDIS_PREFIX: name,
    LECTERN_DATA_DIR: dataDir,
    LECTERN_KEY_PEPPER: testPepper,
    LECTERN_SIGNING_SECRETS: testSigningSecrets.map(({ kid, secret }) => `${kid}:${secret}`).join(','),
    LECTERN_ASSET_SECRET: testAssetSecret,
    LECTERN_COOKIE_SECRET: 'a cookie secret for tests that is long enough',
    WORKER_LOCK_SECONDS: '3',
    ...settings,
  };
  const config = parseConfig(environment);
  const servers = { mongodbUri: environment.MONGODB_URI, redisUrl: environment.REDIS_URL };
  const log = createLogger(config, 'test');
  const started: Shutdown[] = [];
  const shutdownOf = () => {
    const shutdown = new Shutdown(log, config.shutdownSeconds);
    started.push(shutdown);
    return shutdown;
  };
  const db = await openDatabase(servers.mongodbUri);
  await buildIndexes(db);

  return {
    config,
    servers,
    db,
    store: await createStore(config, new MongoLastUses(db)),
    environment,
    async startApi(changes = {}) {
      const own = parseConfig({ ...environment, ...changes });
      const { port } = await startApi(own, servers, { log, shutdown: shutdownOf() });
      return `http://127.0.0.1:${port}`;
    },
    async startWorker(changes = {}) {
      const shutdown = shutdownOf();
      await startWorker(parseConfig({ ...environment, ...changes }), servers, { log, shutdown });
      return () => shutdown.close();
    },
    async close() {
      // An API waits for responses that a test has left unread, as long as it takes.
      const timer = setTimeout(() => void endRequests(), 10_000);
      for (const shutdown of started) await shutdown.close();
      clearTimeout(timer);
      if (await isEmptied(db)) spareDatabases.push(database);
      else await db.connection.dropDatabase();
      await db.connection.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Ends all requests of this process. */
async function endRequests(): Promise<void> {
  const dispatcher = getGlobalDispatcher();
  setGlobalDispatcher(new Agent());
  await dispatcher.destroy();
}

/** Deletes all documents. Returns false for a database whose collections or indexes a test has changed. */
async function isEmptied({ connection }: Database): Promise<boolean> {
  const models = Object.values(connection.models);
  const known = new Set(models.map(({ collection }) => collection.name));
  const found = await connection.listCollections();
  if (!found.every(({ name }) => known.has(name))) return false;
  await Promise.all(models.map(({ collection }) => collection.deleteMany({})));
  return true;
}
