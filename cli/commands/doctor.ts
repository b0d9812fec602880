import { access, constants, mkdir } from 'node:fs/promises';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { loadConfig, settingWarnings } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { codeOf, LecternError, messageOf } from '../../shared/platform/errors.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import { reapplyErasures } from '../../shared/erasure/reapply.ts';
import { buildIndexes, missingIndexes, openDatabase } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  differencesFromInstallation,
  forgetInstallation,
  isInstalled,
  joinInstallation,
} from '../../shared/models/installation.ts';
import { countWebhookStates } from '../../shared/models/webhook.ts';
import { countFailures } from '../../shared/models/lti-score.ts';
import { countDestinations } from '../../shared/models/xapi-destination.ts';
import { pauseText } from '../../shared/xapi/destinations.ts';
import { neededNode, nodeFault } from '../../shared/platform/node-version.ts';
import { pingMongo } from '../../shared/platform/mongo.ts';
import { findKeyPepper, loadSecrets } from '../../shared/platform/secrets.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { findRunningApi } from '../../shared/operations/running-api.ts';
import { findServers } from '../../shared/embedded/servers.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';
import { readStoreLimits } from '../../shared/storage/store-limits.ts';
import { readCoreBundle } from '../../shared/widgets/core-bundles.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { count, formatBytes, note, table } from '../terminal/output.ts';

/** With less free space, a large export may fill the disk. */
const comfortableBytes = 10 * 1000 ** 3;

interface Check {
  name: string;
  ok: boolean;
  version: string | null;
  /** The finding; if it is not ok, followed by the remedy. */
  message: string;
}

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
    await check('Node.js', checkNode),
    await check('settings', () => checkSettings(config)),
    ...(await checkServers(config, accept)),
    await check('API', () => checkApi(config)),
    await check('store', () => checkStore(config)),
    ...(store.kind === 's3' ? [await check('lifecycle rule', () => checkLifecycle(store, fix))] : []),
    await check('core widgets', checkCoreWidgets),
    await check('player', checkPlayer),
  ];
  const ok = checks.every((one) => one.ok);
  const rows = checks.map((one) => [one.ok ? 'ok' : 'FAILED', one.name, one.version ?? '', one.message]);
  return { json: { ok, checks }, text: table(['', 'CHECK', 'VERSION', ''], rows), failed: !ok };
}

type Finding = Omit<Check, 'name' | 'ok'>;

async function check(name: string, run: () => Promise<Finding>): Promise<Check> {
  try {
    return { name, ok: true, ...(await run()) };
  } catch (error) {
    return { name, ok: false, version: null, message: messageOf(error) };
  }
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

async function checkServers(config: Config, accept: boolean): Promise<Check[]> {
  const origin = (configured: string | undefined) => (configured === undefined ? 'embedded' : 'configured');
  let servers;
  try {
    servers = await findServers(config, note);
  } catch (error) {
    return [{ name: 'servers', ok: false, version: null, message: messageOf(error) }];
  }
  const { mongodbUri, redisUrl } = servers;
  const checks = [
    await check('MongoDB', async () => {
      const db = await openDatabase(mongodbUri);
      try {
        const version = await pingMongo(db.connection);
        const missing = await missingIndexes(db);
        await tryWrites(db);
        const indexes = missing.length === 0 ? 'all indexes exist' : 'the first start builds the indexes';
        return { version, message: `${origin(config.mongodbUri)}, ${indexes}` };
      } finally {
        await db.connection.close();
      }
    }),
    await check('Redis', async () => {
      const { assertRoom, connectRedis, pingRedis } = await import('../../shared/platform/redis.ts');
      const redis = await connectRedis(redisUrl);
      try {
        const facts = await pingRedis(redis);
        const { version, maxmemoryPolicy } = facts;
        assertRoom(facts);
        if (maxmemoryPolicy !== null && maxmemoryPolicy !== 'noeviction') {
          throw new Error(`maxmemory-policy is ${maxmemoryPolicy}: jobs may be lost. Set it to noeviction.`);
        }
        return { version, message: origin(config.redisUrl) };
      } finally {
        redis.disconnect();
      }
    }),
    await check('workers', () => checkWorkers(redisUrl, config)),
  ];
  if (checks[0]?.ok === true) {
    checks.push(await check('installation', () => checkInstallation(mongodbUri, config, accept)));
    checks.push(await check('webhooks', () => checkWebhooks(mongodbUri)));
    checks.push(await check('xAPI', () => checkDestinations(mongodbUri)));
    checks.push(await check('grades', () => checkGrades(mongodbUri)));
    checks.push(await check('erasures', () => checkErasures(mongodbUri, config)));
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
async function checkInstallation(mongodbUri: string, config: Config, accept: boolean): Promise<Finding> {
  const db = await openDatabase(mongodbUri);
  try {
    if (!accept && !(await isInstalled(db))) return { version: null, message: 'no process has started yet' };
    const [store, secrets] = await Promise.all([createStore(config, noLastUses), loadSecrets(config, note)]);
    if (accept) {
      await forgetInstallation(db);
      await joinInstallation({ db, store, secrets }, note);
    }
    const differences = await differencesFromInstallation({ db, store, secrets });
    if (differences.length > 0) throw new Error(differences.join(' '));
    return { version: null, message: 'secrets and store are those of all processes' };
  } finally {
    await db.connection.close();
  }
}

/** Reports webhooks that do not work. They are not a problem of the installation: their owners decide. */
async function checkWebhooks(mongodbUri: string): Promise<Finding> {
  const db = await openDatabase(mongodbUri);
  try {
    const counts = await countWebhookStates(db);
    const { active = 0, active_failing: failing = 0 } = counts;
    const disabled = (counts.gone ?? 0) + (counts.failing ?? 0);
    if (active + failing + disabled === 0) return { version: null, message: 'none is active' };
    const hint = failing + disabled === 0 ? '' : '. See: lectern webhook list --org SLUG';
    const message = `${active} work, ${failing} fail, ${disabled} were disabled because they failed${hint}`;
    return { version: null, message };
  } finally {
    await db.connection.close();
  }
}

/** Reports xAPI destinations whose LRS rejects Lectern. */
async function checkDestinations(mongodbUri: string): Promise<Finding> {
  const db = await openDatabase(mongodbUri);
  try {
    const { active, paused, rejected } = await countDestinations(db);
    const reasons = Object.entries(rejected);
    if (active + paused + reasons.length === 0) return { version: null, message: 'no destination' };
    const others = reasons
      .map(([reason, number]) => `, ${number} paused because ${pauseText(reason)}`)
      .join('');
    const hint = reasons.length === 0 ? '' : '. See: lectern xapi list --org SLUG';
    const message = `${active} active, ${paused} paused by their owners${others}${hint}`;
    return { version: null, message };
  } finally {
    await db.connection.close();
  }
}

/** Reports grades that platforms do not take. */
async function checkGrades(mongodbUri: string): Promise<Finding> {
  const db = await openDatabase(mongodbUri);
  try {
    const failures = await countFailures(db);
    if (failures.length === 0) return { version: null, message: 'all taken by their platforms' };
    const parts = failures.map(({ state, reason, count: number }) => `${number} ${state} (${reason})`);
    return { version: null, message: `${parts.join(', ')}. See: lectern lti scores` };
  } finally {
    await db.connection.close();
  }
}

/** Erases again what a restored backup has brought back. */
async function checkErasures(mongodbUri: string, config: Config): Promise<Finding> {
  const db = await openDatabase(mongodbUri);
  try {
    await buildIndexes(db);
    const pepper = await findKeyPepper(config);
    if (pepper === null) return { version: null, message: 'none, because there are no secrets yet' };
    const store = await createStore(config, noLastUses);
    const audit = new AuditLog({ db, log: { warn: () => undefined } });
    const { erasures, reapplied } = await reapplyErasures({ db, store, pepper, audit });
    const again = reapplied === 0 ? '' : `, ${count(reapplied, 'learner')} erased again after a restore`;
    return { version: null, message: `${erasures} in the ledger${again}` };
  } finally {
    await db.connection.close();
  }
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

async function checkWorkers(redisUrl: string, config: Config): Promise<Finding> {
  const [{ connectRedis }, { ExportQueue }] = await Promise.all([
    import('../../shared/platform/redis.ts'),
    import('../../shared/exports/queues.ts'),
  ]);
  const redis = await connectRedis(redisUrl);
  const queue = new ExportQueue(redis, config);
  try {
    const count = await queue.countWorkers();
    if (count === 0) {
      throw new Error(
        'no worker is running: exports wait and no grades are sent. Start one: npm start runs the API and a ' +
          'worker, node dist/worker/main.js only a worker.',
      );
    }
    return { version: null, message: `${count} running` };
  } finally {
    await queue.close().catch(() => undefined);
    redis.disconnect();
  }
}

async function checkStore(config: Config): Promise<Finding> {
  const store = await createStore(config, noLastUses);
  const { place, freeBytes } = await store.check();
  const { maxBytes } = await readStoreLimits(config, store);
  const limit = maxBytes === 0 ? 'no limit for copies' : `copies limited to ${formatBytes(maxBytes)}`;
  if (freeBytes === null) return { version: null, message: `${place}, ${limit}` };
  const hint = freeBytes < comfortableBytes ? ' (not enough for large exports)' : '';
  return { version: null, message: `${place}, ${formatBytes(freeBytes)} free${hint}, ${limit}` };
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

async function checkCoreWidgets(): Promise<Finding> {
  await Promise.all(coreWidgetTypes.map(readCoreBundle));
  return { version: null, message: `${coreWidgetTypes.length} built` };
}

async function checkPlayer(): Promise<Finding> {
  const { name, files } = await playerRelease();
  return { version: null, message: `release ${name}, ${files.size} files` };
}
