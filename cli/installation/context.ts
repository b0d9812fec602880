import { loadConfig } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import { findOrganizationBySlug } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { loadSecrets } from '../../shared/platform/secrets.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { findServers } from '../../shared/embedded/servers.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import type { Store } from '../../shared/storage/store.ts';
import { listenForInterrupts } from '../terminal/interrupts.ts';
import { note } from '../terminal/output.ts';

/** What a command works with; open as long as the command runs. */
export interface CommandContext {
  config: Config;
  db: Database;
  store: Store;
  /** Of a process of its own: an export here and one of a worker share their downloads. */
  redisUrl: string;
  secrets: () => Promise<Secrets>;
  /** Aborted by Ctrl-C: a command that writes cleans up after itself. */
  signal: AbortSignal;
}

/** Opens what a command needs, runs it, and lets go of everything, whatever happens. */
export async function withContext<T>(run: (context: CommandContext) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const servers = await findServers(config, note);
  try {
    const db = await openDatabase(servers.mongodbUri);
    const interrupts = listenForInterrupts(config);
    interrupts.insist.addEventListener('abort', () => process.exit(1));
    try {
      await buildIndexes(db);
      const store = await createStore(config);
      const secrets = () => loadSecrets(config, note);
      return await run({ config, db, store, redisUrl: servers.redisUrl, secrets, signal: interrupts.end });
    } finally {
      interrupts.release();
      await db.connection.close();
    }
  } finally {
    await servers.release();
  }
}

/** @throws {LecternError} NOT_FOUND when there is no organization with that slug. */
export async function requireOrganization(db: Database, slug: string): Promise<Organization> {
  const organization = await findOrganizationBySlug(db, slug);
  if (organization === null) throw unknownOrganization(slug);
  return organization;
}

export function unknownOrganization(slug: string): LecternError {
  return new LecternError('NOT_FOUND', `There is no organization "${slug}". See: lectern org list`);
}
