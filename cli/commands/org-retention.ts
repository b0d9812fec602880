import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { removeExpired } from '../../shared/erasure/retention.ts';
import { forAllKinds, noRecords, recordKinds } from '../../shared/models/learner-records.ts';
import type { RecordKind } from '../../shared/models/learner-records.ts';
import { findRetention, saveRetention } from '../../shared/models/retention.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import type { CommandResult } from '../terminal/json-output.ts';

const off = 'off';

const helpOf: Record<RecordKind, string> = {
  progress: 'remove progress after this many days without activity; off keeps it',
  ltiProgress: 'the same for progress of users of LTI platforms',
  grades: 'remove grades older than this many days, if their progress is gone; off keeps them',
  deliveries: 'remove events and statements older than this many days, sent or waiting; off: the default',
};

type RetentionOptions = Partial<Record<RecordKind, number | typeof off>> & { dryRun?: boolean };

/** `lectern org set-retention` */
export function addSetRetentionCommand(org: Command): void {
  const command = org
    .command('set-retention')
    .description("set how many days Lectern keeps learners' records; without options, show the settings")
    .argument('<slug>', 'the organization');
  for (const kind of recordKinds) command.option(`--${flagOf(kind)} <days>`, helpOf[kind], parseDays);
  command.option('--dry-run', 'only count what a run would remove now');
  contextCommand(command, setRetention);
}

function flagOf(kind: RecordKind): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function parseDays(text: string): number | typeof off {
  if (text === off) return off;
  const days = Number(text);
  if (/^\d{1,5}$/.test(text) && days >= 1 && days <= 36_500) return days;
  throw new InvalidArgumentError(`It must be a whole number of days between 1 and 36500, or ${off}.`);
}

async function setRetention(
  { db, audit }: CommandContext,
  slug: string,
  { dryRun: isDryRun = false, ...given }: RetentionOptions,
): Promise<CommandResult> {
  const { _id } = await requireOrganization(db, slug);
  const stored = await findRetention(db, _id);
  const days = forAllKinds((kind) => {
    const value = given[kind];
    return value === undefined ? stored.days[kind] : value === off ? null : value;
  });
  const linesOf = (valueOf: (kind: RecordKind) => string) =>
    recordKinds.map((kind) => `  ${kind.padEnd(15)}${valueOf(kind)}`);
  const target = { type: 'organization', id: _id } as const;
  const isChange = recordKinds.some((kind) => given[kind] !== undefined);
  if (isDryRun || isChange) await audit(_id, 'retention.change', { target, details: { ...days, isDryRun } });
  if (isDryRun) {
    const wouldRemove = { ...noRecords };
    const { signal } = new AbortController();
    await removeExpired(db, { _id, days }, { removed: wouldRemove, isDryRun, signal });
    const lines = linesOf((kind) => String(wouldRemove[kind]));
    return { json: { wouldRemove }, text: ['A run now would remove:', ...lines].join('\n') };
  }
  const { dueAt } = isChange ? await saveRetention(db, _id, days) : stored;
  const nextRunAt = dueAt?.toISOString() ?? null;
  const lines = linesOf((kind) => (days[kind] === null ? 'never' : `${days[kind]} days`));
  const next = nextRunAt === null ? 'No run is planned.' : `The next run begins at ${nextRunAt}.`;
  return {
    json: { days, nextRunAt },
    text: [`Records of learners of ${slug} are removed after:`, ...lines, next].join('\n'),
  };
}
