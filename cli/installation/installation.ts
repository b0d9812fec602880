import { loadConfig } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { loadSecrets } from '../../shared/platform/secrets.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { findServers } from '../../shared/embedded/servers.ts';
import type { Servers } from '../../shared/embedded/servers.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { aborted, listenForInterrupts } from '../terminal/interrupts.ts';
import { startProcesses } from './processes.ts';

/** A Lectern that runs below this process. */
export interface Installation {
  config: Config;
  servers: Servers;
  secrets: Secrets;
  /** Where the API answers. */
  address: string;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

export interface InstallationOptions {
  workers: number;
  /** Told what is being done, for people. */
  report: (message: string) => void;
  /** Told that a secret was made, and what to do about it. */
  warn: (message: string) => void;
  /** For the environment of the API and the workers. */
  settings?: Record<string, string>;
}

/**
 * Runs API, workers, and the servers they need where none are configured, for as long as `use` does; Ctrl-C ends it
 * all. Nothing is left running, whatever happens.
 *
 * @returns false when Ctrl-C came before `use` was done.
 * @throws {LecternError} naming what is missing or what ended, and what `use` throws.
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
    const { end, insist, release } = listenForInterrupts(config);
    insist.addEventListener('abort', () => process.exit(1));
    try {
      const options = { workers, settings, signal: end, kill: insist };
      const { address, failed, stop } = await startProcesses(config, servers, options);
      const over = new AbortController();
      const signal = AbortSignal.any([end, over.signal]);
      const using = use({ config, servers, secrets, address, signal });
      try {
        const used = using.then(() => true);
        const interrupted = aborted(end).then(() => false);
        return await Promise.race([interrupted, failed, used]);
      } finally {
        // First who uses the processes, then these, then the servers that these use.
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

/** Looks in one place at what every process needs, so that a fault is told once, and all faults together. */
async function prepare(config: Config, servers: Servers, warn: (message: string) => void): Promise<Secrets> {
  const secrets = loadSecrets(config, warn);
  const checks = await Promise.allSettled([
    secrets,
    createStore(config).then((store) => store.check()),
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
