import { loadConfig } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { loadSecrets } from '../../shared/platform/secrets.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { findServers } from '../../shared/embedded/servers.ts';
import type { Servers } from '../../shared/embedded/embedded-servers.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import { aborted, listenForInterrupts } from '../terminal/interrupts.ts';
import { startProcesses } from './processes.ts';

/** An API, its workers and its servers, as child processes. */
export interface Installation {
  config: Config;
  servers: Servers;
  secrets: Secrets;
  /** The URL of the API. */
  url: string;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

export interface InstallationOptions {
  workers: number;
  /** Prints progress. */
  report: (message: string) => void;
  /** Prints a warning about generated secrets, with the remedy. */
  warn: (message: string) => void;
  /** Settings for the environment of the API and the workers. */
  settings?: Record<string, string>;
}

/**
 * Runs an API, workers, and the servers that are not configured while `use` runs; Ctrl-C ends all of them. Leaves no
 * process running, even on failure.
 *
 * @returns false if Ctrl-C interrupted `use`
 * @throws {LecternError} naming the missing part or the process that ended; any error of `use`
 */
export async function withInstallation(
  { workers, report, warn, settings = {} }: InstallationOptions,
  use: (installation: Installation) => Promise<void>,
): Promise<boolean> {
  const config = loadConfig();
  const servers = await findServers(config, report);
  try {
    const secrets = await prepare(config, servers, warn);
    report(`Starting the API and ${workers === 1 ? 'a worker' : `${workers} workers`}`);
    const { graceful, forced, release } = listenForInterrupts(config);
    forced.addEventListener('abort', () => process.exit(1));
    try {
      const options = { workers, settings, signal: graceful, kill: forced };
      const { url, failed, stop } = await startProcesses(config, servers, options);
      const over = new AbortController();
      const signal = AbortSignal.any([graceful, over.signal]);
      const using = use({ config, servers, secrets, url, signal });
      try {
        const used = using.then(() => true);
        const interrupted = aborted(graceful).then(() => false);
        return await Promise.race([interrupted, failed, servers.failed, used]);
      } finally {
        // Stops in this order: the user of the processes, the processes, the servers that they use.
        over.abort();
        await Promise.allSettled([using]);
        await stop();
      }
    } finally {
      release();
    }
  } finally {
    await servers.release();
  }
}

/** Checks what every process needs, so that each fault is reported once and all faults together. */
async function prepare(config: Config, servers: Servers, warn: (message: string) => void): Promise<Secrets> {
  const secrets = loadSecrets(config, warn);
  const checks = await Promise.allSettled([
    secrets,
    createStore(config, noLastUses).then((store) => store.check()),
    openDatabase(servers.mongodbUri).then(async (db) => {
      await buildIndexes(db);
      await db.connection.close();
    }),
    connectRedis(servers.redisUrl).then((redis) => redis.disconnect()),
  ]);
  const faults = checks.flatMap((check) => (check.status === 'rejected' ? [messageOf(check.reason)] : []));
  if (faults.length > 0) throw new LecternError('INTERNAL_ERROR', faults.join('\n'));
  return secrets;
}
