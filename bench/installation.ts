import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment, parseConfig } from '../shared/platform/config.ts';
import type { Config } from '../shared/platform/config.ts';
import { issueApiKey } from '../shared/models/api-key.ts';
import { buildIndexes, openDatabase } from '../shared/models/database.ts';
import type { Database } from '../shared/models/database.ts';
import { MongoLastUses } from '../shared/models/file-use.ts';
import type { LessonVersion } from '../shared/models/lesson-version.ts';
import { createOrganization } from '../shared/models/organization.ts';
import type { Organization } from '../shared/models/organization.ts';
import { importPackage } from '../shared/packages/import.ts';
import { packageRoot } from '../shared/platform/paths.ts';
import { publishVersion } from '../shared/publishing/publishing.ts';
import { loadSecrets } from '../shared/platform/secrets.ts';
import type { Secrets } from '../shared/platform/secrets.ts';
import { findServers } from '../shared/embedded/servers.ts';
import type { Servers } from '../shared/embedded/embedded-servers.ts';
import { createStore } from '../shared/storage/create-store.ts';
import type { Store } from '../shared/storage/store.ts';

/** A separate installation for a benchmark, without processes yet, with an organization that may export. */
export interface BenchInstallation {
  /** A new folder, which `remove` deletes. */
  folder: string;
  /** The environment of this configuration, for child processes. */
  settings: Record<string, string>;
  config: Config;
  servers: Servers;
  db: Database;
  store: Store;
  secrets: Secrets;
  organization: Organization;
  /** The organization's Authorization header. */
  authorization: string;
  /** Imports a package as a new lesson and publishes it. */
  publish: (packageFolder: string, mediaBaseUrl?: string) => Promise<LessonVersion>;
  remove: () => Promise<void>;
}

/** @param more settings over those of every benchmark. */
export async function prepareInstallation(more: Record<string, string> = {}): Promise<BenchInstallation> {
  const folder = await mkdtemp(join(tmpdir(), 'lectern-bench-'));
  const settings = {
    LOG_LEVEL: 'error',
    PORT: '0',
    LECTERN_DATA_DIR: join(folder, 'data'),
    RATE_LIMIT_PER_KEY: '0',
    RATE_LIMIT_PER_ADDRESS: '0',
    ...more,
  };
  const config = parseConfig({ ...process.env, ...settings });
  const servers = await findServers(config, (message) => console.error(message));
  const db = await openDatabase(servers.mongodbUri);
  await buildIndexes(db);
  const store = await createStore(config, new MongoLastUses(db));
  const organization = await createOrganization(db, { slug: 'bench', name: 'Bench', plan: 'edtech' });
  const secrets = await loadSecrets(config, () => undefined);
  const { publicKey, secretKey } = await issueApiKey(db, secrets.keyPepper, {
    organizationId: organization._id,
    label: null,
    expiresAt: null,
  });
  return {
    folder,
    settings,
    config,
    servers,
    db,
    store,
    secrets,
    organization,
    authorization: `Bearer ${publicKey}.${secretKey}`,
    async publish(packageFolder, mediaBaseUrl) {
      const { version } = await importPackage({ db, store, config }, organization, packageFolder, {
        asNew: true,
        signal: new AbortController().signal,
        ...(mediaBaseUrl !== undefined && { mediaBaseUrl }),
      });
      return publishVersion(db, store, version._id, { force: false });
    },
    async remove() {
      await db.connection.close();
      await servers.release();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type StartingPoint = Pick<BenchInstallation, 'servers' | 'settings'>;

/** Starts the API from `dist/`, as operators do, and resolves when it is ready. Call `compile()` first. */
export async function startCompiledApi(
  installation: StartingPoint,
  extraSettings: Record<string, string> = {},
  execArgv: string[] = [],
) {
  const { first, ...api } = await startCompiled('api', installation, { extraSettings, execArgv });
  return { ...api, ...(first as { port: number; metricsPort: number }) };
}

/** As {@link startCompiledApi}, but a worker. */
export function startCompiledWorker(installation: StartingPoint, execArgv: string[]) {
  return startCompiled('worker', installation, { execArgv });
}

async function startCompiled(
  program: 'api' | 'worker',
  { servers, settings }: StartingPoint,
  { extraSettings = {}, execArgv }: { extraSettings?: Record<string, string>; execArgv: string[] },
) {
  const { mongodbUri: MONGODB_URI, redisUrl: REDIS_URL } = servers;
  const env = childEnvironment({ MONGODB_URI, REDIS_URL, ...settings, ...extraSettings });
  // This process has a loader for TypeScript, which the child would inherit.
  const child = fork(join(packageRoot, 'dist', program, 'main.js'), { env, execArgv });
  const ended = once(child, 'exit');
  const [first] = (await once(child, 'message')) as [unknown];
  return {
    /** The message of a process that is ready. */
    first,
    /** Sends a message to the process, for a script that `execArgv` preloads, and returns the response. */
    async ask(message: string): Promise<unknown> {
      child.send(message);
      const [response] = (await once(child, 'message')) as [unknown];
      return response;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Starts the API of another checkout, with its dependencies installed and its player built, on the same database. */
export async function startCheckout(
  { servers, settings }: Pick<BenchInstallation, 'servers' | 'settings'>,
  checkout: string,
): Promise<{ url: string; stop: () => void }> {
  const { mongodbUri: MONGODB_URI, redisUrl: REDIS_URL } = servers;
  const env = childEnvironment({ MONGODB_URI, REDIS_URL, ...settings });
  const execArgv = ['--import', 'tsx'];
  const child = fork(join(checkout, 'api/main.ts'), [], { cwd: checkout, env, execArgv });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() };
}
