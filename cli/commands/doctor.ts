import { access, constants, mkdir } from 'node:fs/promises';
import type { Redis } from 'ioredis';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { findServers } from '../../shared/embedded/servers.ts';
import { reapplyErasures } from '../../shared/erasure/reapply.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  differencesFromInstallation,
  forgetInstallation,
  isInstalled,
  joinInstallation,
} from '../../shared/models/installation.ts';
import {
  diagnosisOf,
  findCoreWidgets,
  findDestinations,
  findGrades,
  findMongo,
  findPlayer,
  findRedis,
  findStore,
  findWebhooks,
  findWorkers,
} from '../../shared/operations/diagnosis.ts';
import type { Diagnosis, Finding } from '../../shared/operations/diagnosis.ts';
import { findRunningApi } from '../../shared/operations/running-api.ts';
import { loadConfig, settingWarnings } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { codeOf, LecternError, messageOf } from '../../shared/platform/errors.ts';
import { neededNode, nodeFault } from '../../shared/platform/node-version.ts';
import { findKeyPepper, loadSecrets } from '../../shared/platform/secrets.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { count, note, table } from '../terminal/output.ts';

/**
 * Checks Lectern's dependencies.
 *
 * @param options.accept makes the present secrets and store those of the installation
 * @param options.fix adds the lifecycle rule to the bucket
 */
export async function diagnose({
  accept = false,
  fix = false,
}: { accept?: boolean; fix?: boolean } = {}): Promise<CommandResult> {
  const config = loadConfig();
  const { store } = config;
  const checks = [
    await diagnosisOf('Node.js', checkNode),
    await diagnosisOf('settings', () => checkSettings(config)),
    ...(await checkServers(config, accept)),
    await diagnosisOf('API', () => checkApi(config)),
    await diagnosisOf('store', async () => findStore(config, await createStore(config, noLastUses))),
    ...(store.kind === 's3' ? [await diagnosisOf('lifecycle rule', () => checkLifecycle(store, fix))] : []),
    await diagnosisOf('core widgets', findCoreWidgets),
    await diagnosisOf('player', findPlayer),
  ];
  const ok = checks.every((one) => one.ok);
  const rows = checks.map((one) => [one.ok ? 'ok' : 'FAILED', one.name, one.version ?? '', one.message]);
  return { json: { ok, checks }, text: table(['', 'CHECK', 'VERSION', ''], rows), failed: !ok };
}

function checkNode(): Promise<Finding> {
  const fault = nodeFault();
  if (fault !== null) return Promise.reject(new Error(fault));
  return Promise.resolve({ version: process.versions.node, message: `needs ${neededNode()}` });
}

async function checkSettings(config: Config): Promise<Finding> {
  await mkdir(config.dataDir, { recursive: true })
    .then(() => access(config.dataDir, constants.W_OK))
    .catch((error: unknown) => {
      throw new Error(`the data directory cannot be written to: ${messageOf(error)}`, { cause: error });
    });
  const board = config.admin === undefined ? 'off (set ADMIN_USERNAME and ADMIN_PASSWORD)' : 'on';
  const unknown = settingWarnings().map((warning) => `. ${warning}`);
  const message = `data in ${config.dataDir}, secrets ${describeSecrets(config)}, queue board ${board}${unknown.join('')}`;
  return { version: null, message };
}

function describeSecrets({ keyPepper, signingSecrets, assetSecret, cookieSecret }: Config): string {
  const configured = [keyPepper, signingSecrets, assetSecret, cookieSecret].filter(
    (secret) => secret !== undefined,
  );
  const tokens = signingSecrets?.length === 0 ? ' (embed tokens are off)' : '';
  if (configured.length === 4) return `from the settings${tokens}`;
  return `${configured.length === 0 ? 'all' : 'partly'} kept in the data directory${tokens}`;
}

async function checkServers(config: Config, accept: boolean): Promise<Diagnosis[]> {
  const origin = (configured: string | undefined) => (configured === undefined ? 'embedded' : 'configured');
  let servers;
  try {
    servers = await findServers(config, note);
  } catch (error) {
    return [{ name: 'servers', ok: false, version: null, message: messageOf(error) }];
  }
  const { mongodbUri, redisUrl } = servers;
  const inDatabase = (name: string, run: (db: Database) => Promise<Finding>) =>
    diagnosisOf(name, async () => {
      const db = await openDatabase(mongodbUri);
      try {
        return await run(db);
      } finally {
        await db.connection.close();
      }
    });
  const inRedis = (name: string, run: (redis: Redis) => Promise<Finding>) =>
    diagnosisOf(name, async () => {
      const { connectRedis } = await import('../../shared/platform/redis.ts');
      const redis = await connectRedis(redisUrl);
      return run(redis).finally(() => redis.disconnect());
    });
  const checks = [
    await inDatabase('MongoDB', async (db) => {
      const { version, message } = await findMongo(db);
      await tryWrites(db);
      return { version, message: `${origin(config.mongodbUri)}, ${message}` };
    }),
    await inRedis('Redis', async (redis) => {
      const { version } = await findRedis(redis);
      return { version, message: origin(config.redisUrl) };
    }),
    await inRedis('workers', async (redis) => {
      const { ExportQueue } = await import('../../shared/exports/queues.ts');
      const queue = new ExportQueue(redis, config);
      try {
        return await findWorkers(queue);
      } finally {
        await queue.close().catch(() => undefined);
      }
    }),
  ];
  if (checks[0]?.ok === true) {
    checks.push(await inDatabase('installation', (db) => checkInstallation(db, config, accept)));
    checks.push(await inDatabase('webhooks', findWebhooks));
    checks.push(await inDatabase('xAPI', findDestinations));
    checks.push(await inDatabase('grades', findGrades));
    checks.push(await inDatabase('erasures', (db) => checkErasures(db, config)));
  }
  await servers.release();
  return checks;
}

/** MongoDB's code of an action that the user has no right to. */
const unauthorizedCode = 13;

/**
 * Tries what Lectern does with collections, because MongoDB rejects what its user may not do only when it is done.
 *
 * @throws {LecternError} INTERNAL_ERROR that names the action and the role that the user needs.
 */
async function tryWrites({ connection }: Database): Promise<void> {
  const trial = connection.collection('doctor');
  const actions: [name: string, run: () => Promise<unknown>][] = [
    ['insert documents', () => trial.insertOne({ value: 1 })],
    ['create indexes', () => trial.createIndex({ value: 1 })],
    ['update documents', () => trial.updateOne({ value: 1 }, { $inc: { value: 1 } })],
    ['remove documents', () => trial.deleteMany({})],
    ['drop collections', () => trial.drop()],
  ];
  for (const [action, run] of actions) {
    await run().catch(async (error: unknown) => {
      await trial.drop().catch(() => undefined);
      if (codeOf(error) !== unauthorizedCode) throw error;
      const reason = `The user of MONGODB_URI may not ${action} (${messageOf(error)}). Give it the role readWrite on the database.`;
      throw new LecternError('INTERNAL_ERROR', reason, { cause: error });
    });
  }
}

/** Compares secrets and store with those of the other processes. */
async function checkInstallation(db: Database, config: Config, accept: boolean): Promise<Finding> {
  if (!accept && !(await isInstalled(db))) return { version: null, message: 'no process has started yet' };
  const [store, secrets] = await Promise.all([createStore(config, noLastUses), loadSecrets(config, note)]);
  if (accept) {
    await forgetInstallation(db);
    await joinInstallation({ db, store, secrets }, note);
  }
  const differences = await differencesFromInstallation({ db, store, secrets });
  if (differences.length > 0) throw new Error(differences.join(' '));
  return { version: null, message: 'secrets and store are those of all processes' };
}

/** Erases again what a restored backup has brought back. */
async function checkErasures(db: Database, config: Config): Promise<Finding> {
  await buildIndexes(db);
  const pepper = await findKeyPepper(config);
  if (pepper === null) return { version: null, message: 'none, because there are no secrets yet' };
  const store = await createStore(config, noLastUses);
  const audit = new AuditLog({ db, log: { warn: () => undefined } });
  const { erasures, reapplied } = await reapplyErasures({ db, store, pepper, audit });
  const again = reapplied === 0 ? '' : `, ${count(reapplied, 'learner')} erased again after a restore`;
  return { version: null, message: `${erasures} in the ledger${again}` };
}

/** Finds the URL in links of the command line. A missing API is not a problem: it may run on another host. */
async function checkApi(config: Config): Promise<Finding> {
  if (config.publicUrl !== undefined) {
    // Lectern itself does not serve HTTPS.
    const hint =
      config.publicUrl.startsWith('https:') && config.trustProxy === 0
        ? '. TRUST_PROXY is 0: set it to the number of HTTP proxies. Otherwise all clients share one rate limit, even for wrong passwords'
        : '';
    return { version: null, message: `at ${config.publicUrl} (PUBLIC_URL)${hint}` };
  }
  const running = await findRunningApi(config);
  if (running !== null) return { version: null, message: `running at ${running}` };
  return { version: null, message: 'none is running on this data directory; npm start runs one' };
}

/** Checks the rule by which the bucket removes abandoned uploads. A missing one only takes space. */
async function checkLifecycle(store: S3Settings, fix: boolean): Promise<Finding> {
  const { BucketLifecycle } = await import('../../shared/storage/s3/lifecycle.ts');
  const lifecycle = new BucketLifecycle(store);
  if (fix) await lifecycle.addRule();
  const found = await lifecycle.hasRule().catch((error: unknown) => messageOf(error));
  const byHand = 'See docs/operate/store.md to add it by hand.';
  if (found === true) return { version: null, message: 'the bucket removes abandoned uploads' };
  if (found === false) {
    return { version: null, message: `none: abandoned uploads stay. Run: lectern doctor --fix. ${byHand}` };
  }
  return { version: null, message: `unknown: ${found} ${byHand}` };
}
