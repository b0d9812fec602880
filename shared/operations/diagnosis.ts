import type { Redis } from 'ioredis';
import type { ExportQueue } from '../exports/queues.ts';
import { coreWidgetTypes } from '../lessons/core-widgets.ts';
import { missingIndexes } from '../models/database.ts';
import type { Database } from '../models/database.ts';
import { countFailures } from '../models/lti-score.ts';
import { countWebhookStates } from '../models/webhook.ts';
import { countDestinations } from '../models/xapi-destination.ts';
import type { Config } from '../platform/config.ts';
import { messageOf } from '../platform/errors.ts';
import { formatBytes } from '../platform/format-bytes.ts';
import { pingMongo } from '../platform/mongo.ts';
import { assertRoom, pingRedis } from '../platform/redis.ts';
import { withDeadline } from '../platform/time-limits.ts';
import { playerRelease } from '../player/player-release.ts';
import { readStoreLimits } from '../storage/store-limits.ts';
import type { Store } from '../storage/store.ts';
import { readCoreBundle } from '../widgets/core-bundles.ts';
import { pauseText } from '../xapi/destinations.ts';

/*
 * What `lectern doctor` and the operators' view of the API find out about an installation, with connections that work.
 */

/** With less free space, a large export may fill the disk. */
const comfortableBytes = 10 * 1000 ** 3;

export interface Diagnosis {
  name: string;
  ok: boolean;
  version: string | null;
  /** The finding; if it is not ok, followed by the remedy. */
  message: string;
}

export type Finding = Omit<Diagnosis, 'name' | 'ok'>;

/** Runs a check, which throws an error with the remedy. */
export async function diagnosisOf(name: string, run: () => Promise<Finding>): Promise<Diagnosis> {
  try {
    return { name, ok: true, ...(await run()) };
  } catch (error) {
    return { name, ok: false, version: null, message: messageOf(error) };
  }
}

const checkTimeoutMs = 10_000;

interface Connections {
  config: Config;
  db: Database;
  redis: Redis;
  store: Store;
  queue: ExportQueue;
}

/** Runs the checks that a running process can make. */
export function diagnose({ config, db, redis, store, queue }: Connections): Promise<Diagnosis[]> {
  const checks: Record<string, () => Promise<Finding>> = {
    MongoDB: () => findMongo(db),
    Redis: () => findRedis(redis),
    workers: () => findWorkers(queue),
    store: () => findStore(config, store),
    webhooks: () => findWebhooks(db),
    xAPI: () => findDestinations(db),
    grades: () => findGrades(db),
    'core widgets': findCoreWidgets,
    player: findPlayer,
  };
  return Promise.all(
    Object.entries(checks).map(([name, run]) =>
      diagnosisOf(name, () => withDeadline(run(), { timeoutMs: checkTimeoutMs })),
    ),
  );
}

export async function findMongo(db: Database): Promise<Finding> {
  const version = await pingMongo(db.connection);
  const missing = await missingIndexes(db);
  const message = missing.length === 0 ? 'all indexes exist' : 'the first start builds the indexes';
  return { version, message };
}

export async function findRedis(redis: Redis): Promise<Finding> {
  const facts = await pingRedis(redis);
  const { version, maxmemoryPolicy } = facts;
  assertRoom(facts);
  if (maxmemoryPolicy !== null && maxmemoryPolicy !== 'noeviction') {
    throw new Error(`maxmemory-policy is ${maxmemoryPolicy}: jobs may be lost. Set it to noeviction.`);
  }
  return { version, message: 'it accepts writes' };
}

export async function findWorkers(queue: ExportQueue): Promise<Finding> {
  const count = await queue.countWorkers();
  if (count === 0) {
    throw new Error(
      'no worker is running: exports wait and no grades are sent. Start one: npm start runs the API and a ' +
        'worker, node dist/worker/main.js only a worker.',
    );
  }
  return { version: null, message: `${count} running` };
}

/** Reports webhooks that do not work. They are not a problem of the installation: their owners decide. */
export async function findWebhooks(db: Database): Promise<Finding> {
  const counts = await countWebhookStates(db);
  const { active = 0, active_failing: failing = 0 } = counts;
  const disabled = (counts.gone ?? 0) + (counts.failing ?? 0);
  if (active + failing + disabled === 0) return { version: null, message: 'none is active' };
  const hint = failing + disabled === 0 ? '' : '. See: lectern webhook list --org SLUG';
  const message = `${active} work, ${failing} fail, ${disabled} were disabled because they failed${hint}`;
  return { version: null, message };
}

/** Reports xAPI destinations whose LRS rejects Lectern. */
export async function findDestinations(db: Database): Promise<Finding> {
  const { active, paused, rejected } = await countDestinations(db);
  const reasons = Object.entries(rejected);
  if (active + paused + reasons.length === 0) return { version: null, message: 'no destination' };
  const others = reasons
    .map(([reason, number]) => `, ${number} paused because ${pauseText(reason)}`)
    .join('');
  const hint = reasons.length === 0 ? '' : '. See: lectern xapi list --org SLUG';
  const message = `${active} active, ${paused} paused by their owners${others}${hint}`;
  return { version: null, message };
}

/** Reports grades that platforms do not take. */
export async function findGrades(db: Database): Promise<Finding> {
  const failures = await countFailures(db);
  if (failures.length === 0) return { version: null, message: 'all taken by their platforms' };
  const parts = failures.map(({ state, reason, count }) => `${count} ${state} (${reason})`);
  return { version: null, message: `${parts.join(', ')}. See: lectern lti scores` };
}

export async function findStore(config: Config, store: Store): Promise<Finding> {
  const { place, freeBytes } = await store.check();
  const { maxBytes } = await readStoreLimits(config, store);
  const limit = maxBytes === 0 ? 'no limit for copies' : `copies limited to ${formatBytes(maxBytes)}`;
  if (freeBytes === null) return { version: null, message: `${place}, ${limit}` };
  const hint = freeBytes < comfortableBytes ? ' (not enough for large exports)' : '';
  return { version: null, message: `${place}, ${formatBytes(freeBytes)} free${hint}, ${limit}` };
}

export async function findCoreWidgets(): Promise<Finding> {
  await Promise.all(coreWidgetTypes.map(readCoreBundle));
  return { version: null, message: `${coreWidgetTypes.length} built` };
}

export async function findPlayer(): Promise<Finding> {
  const { name, files } = await playerRelease();
  return { version: null, message: `release ${name}, ${files.size} files` };
}
