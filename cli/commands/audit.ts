import type { Command } from 'commander';
import { installationLog, readAudit } from '../../shared/models/audit-entry.ts';
import type { AuditEntry } from '../../shared/models/audit-entry.ts';
import { learnerSubject, pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { pageSizeParser, parseLearnerId, parseTime, parseUuid } from '../terminal/option-parsers.ts';
import { table } from '../terminal/output.ts';

const maxListed = 100_000;

interface ListOptions {
  org?: string;
  since?: Date;
  until?: Date;
  action?: string;
  actor?: string;
  learner?: string;
  platform?: string;
  limit: number;
}

const orgHelp = 'the organization; without it, the log of the installation: visits to the queue board';

/** `lectern audit …` */
export function addAuditCommands(audit: Command): void {
  contextCommand(
    audit
      .command('list')
      .description('list entries, the oldest first')
      .option('--org <slug>', orgHelp)
      .option('--since <time>', 'from this time on, such as 2027-01-31T12:00:00Z', parseTime)
      .option('--until <time>', 'before this time', parseTime)
      .option('--action <action>', 'one action, such as learner.erase')
      .option('--actor <id>', 'one actor: a public key, the id of a user, or login@host')
      .option('--learner <id>', 'about one learner', parseLearnerId)
      .option('--platform <id>', 'the LTI platform of the learner', parseUuid)
      .option('--limit <number>', `how many, at most ${maxListed}`, pageSizeParser(maxListed), 1000),
    list,
  );
}

async function list(
  { db, secrets, audit }: CommandContext,
  { org, learner, platform, actor, limit, ...filters }: ListOptions,
): Promise<CommandResult> {
  const organizationId = org === undefined ? installationLog : (await requireOrganization(db, org))._id;
  const { keyPepper } = await secrets();
  const pseudonym =
    learner === undefined
      ? undefined
      : pseudonymOf(keyPepper, learnerSubject(organizationId, learner, platform));
  const found: Omit<AuditEntry, '_id' | 'organizationId'>[] = [];
  const entries = readAudit(db, organizationId, { ...filters, actorId: actor, learner: pseudonym });
  for await (const { _id, organizationId: _organization, ...entry } of entries) {
    found.push(entry);
    if (found.length === limit) break;
  }
  await audit(organizationId, 'audit.read', {
    target: pseudonym === undefined ? null : { type: 'learner', id: pseudonym },
  });
  const named = (object: { type: string; id: string } | null) => object && `${object.type} ${object.id}`;
  const rows = found.map(({ at, action, actor: who, target, ip }) =>
    [at.toISOString(), action, named(who), named(target), ip].map((cell) => cell ?? ''),
  );
  const text =
    rows.length === 0 ? 'There are no such entries.' : table(['AT', 'ACTION', 'ACTOR', 'TARGET', 'IP'], rows);
  return { json: found, text };
}
