import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import {
  changeRetention,
  presentRetention,
  previewRetention,
  retentionFault,
} from '../../shared/erasure/retention.ts';
import { forAllKinds, recordKinds } from '../../shared/models/learner-records.ts';
import type { RecordCounts, RecordKind } from '../../shared/models/learner-records.ts';
import { defaultMaxPerRun, findRetention, noRetention } from '../../shared/models/retention.ts';
import type { RetentionSettings } from '../../shared/models/retention.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { parseCount } from '../terminal/option-parsers.ts';

const off = 'off';

const helpOf: Record<RecordKind, string> = {
  progress: 'remove progress after this many days without activity; off keeps it',
  ltiProgress: 'the same for progress of users of LTI platforms',
  grades: 'remove grades older than this many days, if their progress is gone; off keeps them',
  deliveries: 'remove events and statements older than this many days, sent or waiting; off: the default',
  pendingEvents: 'remove events older than this many days that the outbox has no room for; off: the default',
};

type RetentionOptions = Partial<Record<RecordKind, number | typeof off>> & {
  maxPerRun?: number;
  dryRun?: boolean;
};

/** `lectern org set-retention` */
export function addSetRetentionCommand(org: Command): void {
  const command = org
    .command('set-retention')
    .description("set how many days Lectern keeps learners' records; without options, show the settings")
    .argument('<slug>', 'the organization');
  for (const kind of recordKinds) command.option(`--${flagOf(kind)} <days>`, helpOf[kind], parseDays);
  command
    .option(
      '--max-per-run <number>',
      'the maximum number of records of each kind that a daily run removes',
      parseCount,
    )
    .option('--dry-run', 'only count what a run would remove');
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
  { db, audit, auditLog }: CommandContext,
  slug: string,
  { dryRun = false, maxPerRun, ...given }: RetentionOptions,
): Promise<CommandResult> {
  const { _id: organizationId } = await requireOrganization(db, slug);
  const stored = await findRetention(db, organizationId);
  const before: RetentionSettings = stored ?? { days: noRetention, maxPerRun: defaultMaxPerRun };
  const settings: RetentionSettings = {
    days: forAllKinds((kind) => {
      const value = given[kind];
      return value === undefined ? before.days[kind] : value === off ? null : value;
    }),
    maxPerRun: maxPerRun ?? before.maxPerRun,
  };
  const fault = retentionFault(settings);
  if (fault !== null) throw new LecternError('BAD_REQUEST', `${fault}.`);
  const record = (isDryRun: boolean) =>
    audit(organizationId, 'retention.change', {
      target: { type: 'organization', id: organizationId },
      details: { ...settings.days, maxPerRun: settings.maxPerRun, isDryRun },
    });
  if (dryRun) {
    const preview = await previewRetention(db, organizationId, settings);
    await record(true);
    const more = preview.isCapped ? ['Later runs would remove more.'] : [];
    return {
      json: preview,
      text: ['A run now would remove:', ...linesOf(preview.wouldRemove), ...more].join('\n'),
    };
  }
  const isChange = maxPerRun !== undefined || recordKinds.some((kind) => given[kind] !== undefined);
  let saved = stored;
  if (isChange) {
    saved = await changeRetention({ db, audit: auditLog }, organizationId, settings);
    await record(false);
  }
  const json = presentRetention(saved);
  const text = [
    `Records of learners of ${slug} are removed after:`,
    ...recordKinds.map(
      (kind) => `  ${kind.padEnd(15)}${json.days[kind] === null ? 'never' : `${json.days[kind]} days`}`,
    ),
    json.nextRunAt === null
      ? 'No run is planned.'
      : `The next run begins at ${json.nextRunAt}, and removes at most ${json.maxPerRun} of each kind.`,
    ...(json.lastRun === null
      ? []
      : [`The last run, at ${json.lastRun.startedAt}, removed:`, ...linesOf(json.lastRun.removed)]),
  ].join('\n');
  return { json, text };
}

function linesOf(counts: RecordCounts): string[] {
  return recordKinds.map((kind) => `  ${kind.padEnd(15)}${counts[kind]}`);
}
