import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import type { AuditAction, AuditDetails, AuditTarget } from '../../shared/models/audit-entry.ts';
import { loadConfig } from '../../shared/platform/config.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import { MongoLastUses } from '../../shared/models/file-use.ts';
import { joinInstallation } from '../../shared/models/installation.ts';
import { findOrganizationBySlug } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { loadSecrets } from '../../shared/platform/secrets.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { findServers } from '../../shared/embedded/servers.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import type { Store } from '../../shared/storage/store.ts';
import { listenForInterrupts } from '../terminal/interrupts.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { note } from '../terminal/output.ts';

/** The dependencies of a command, open while it runs. */
export interface CommandContext {
  config: Config;
  db: Database;
  store: Store;
  /** Commands that export coordinate their downloads with the workers through it. */
  redisUrl: string;
  secrets: () => Promise<Secrets>;
  /** Aborted by Ctrl-C: a command that writes cleans up after itself. */
  signal: AbortSignal;
  /** Records the operator's action in an organization's audit log. */
  audit: (organizationId: string, action: AuditAction, about: AuditedChange) => Promise<void>;
}

export interface AuditedChange {
  target: AuditTarget | null;
  details?: AuditDetails;
}

/**
 * Opens a command's dependencies, runs it, and closes them, even on failure.
 *
 * @param buildsIndexes false for commands that only read the database: others build missing indexes first, because
 * writes need the unique ones, and check that this process has the secrets and the store of its installation
 */
export async function withContext<T>(
  run: (context: CommandContext) => Promise<T>,
  { buildsIndexes = true } = {},
): Promise<T> {
  const config = loadConfig();
  const servers = await findServers(config, note);
  try {
    const db = await openDatabase(servers.mongodbUri);
    const interrupts = listenForInterrupts(config);
    interrupts.forced.addEventListener('abort', () => process.exit(1));
    try {
      const store = await createStore(config, new MongoLastUses(db));
      const secrets = () => loadSecrets(config, note);
      if (buildsIndexes) {
        await buildIndexes(db);
        await joinInstallation({ db, store, secrets: await secrets() }, note);
      }
      const auditLog = new AuditLog({ db, log: { warn: () => undefined } });
      return await run({
        config,
        db,
        store,
        redisUrl: servers.redisUrl,
        secrets,
        signal: interrupts.graceful,
        async audit(organizationId, action, { target, details = {} }) {
          const actor = { type: 'operator' as const, id: operatorName() };
          const origin = { ip: null, requestId: null };
          await auditLog.recordNow(organizationId, { action, actor, target, details, ...origin });
        },
      });
    } finally {
      interrupts.release();
      await db.connection.close();
    }
  } finally {
    await servers.release();
  }
}

/** Returns the login and the host: `ada@lectern-1`. Containers may run as a user without a login: `uid 1000650000@…`. */
function operatorName(): string {
  let login = `uid ${process.getuid?.()}`;
  try {
    login = userInfo().username;
  } catch {
    // The system knows no name for this user.
  }
  return `${login}@${hostname()}`;
}

/** @throws {LecternError} NOT_FOUND when no organization has this slug */
export async function requireOrganization(db: Database, slug: string): Promise<Organization> {
  const organization = await findOrganizationBySlug(db, slug);
  if (organization === null) throw unknownOrganization(slug);
  return organization;
}

export function unknownOrganization(slug: string): LecternError {
  return new LecternError('NOT_FOUND', `There is no organization "${slug}". See: lectern org list`);
}

/** Gives a command the option `--json`, as {@link withJsonOutput} does, and runs it with a {@link CommandContext}. */
export function contextCommand<Arguments extends unknown[]>(
  command: Command,
  run: (context: CommandContext, ...args: Arguments) => Promise<CommandResult>,
): void {
  withJsonOutput(command, (...args: Arguments) => withContext((context) => run(context, ...args)));
}

/**
 * Like {@link contextCommand}, for a command that only reads the database: it starts faster, because it builds
 * no indexes. Reads that the audit log records are writes, too: they use {@link contextCommand}.
 */
export function readingCommand<Arguments extends unknown[]>(
  command: Command,
  run: (context: Pick<CommandContext, 'db' | 'config'>, ...args: Arguments) => Promise<CommandResult>,
): void {
  withJsonOutput(command, (...args: Arguments) =>
    withContext((context) => run(context, ...args), { buildsIndexes: false }),
  );
}
