import { setTimeout as delay } from 'node:timers/promises';
import { Option } from 'commander';
import type { Command } from 'commander';
import {
  auditedErasure,
  finishErasure,
  presentReport,
  previewErasure,
  requestErasure,
} from '../../shared/erasure/erase.ts';
import { exportName } from '../../shared/erasure/learner-files.ts';
import { learnerZip } from '../../shared/erasure/learner-zip.ts';
import { erasureModes } from '../../shared/models/erasure.ts';
import type { Downstream, ErasureMode } from '../../shared/models/erasure.ts';
import { recordKinds } from '../../shared/models/learner-records.ts';
import type { RecordCounts } from '../../shared/models/learner-records.ts';
import { learnerSubject, pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import type { LearnerSubject } from '../../shared/tokens/learner-subject.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { parseLearnerId, parseUuid } from '../terminal/option-parsers.ts';
import { count, note } from '../terminal/output.ts';
import { outputTarget, writeOutput } from '../terminal/output-file.ts';

interface LearnerOptions {
  org: string;
  platform?: string;
}

interface EraseOptions extends LearnerOptions {
  dryRun?: boolean;
  mode: ErasureMode;
}

/** `lectern learner …` */
export function addLearnerCommands(learner: Command): void {
  contextCommand(
    learnerCommand(learner, 'export', "write a learner's data to a ZIP").requiredOption(
      '--out <file>',
      'the file to write, or a folder; /dev/stdout prints it',
    ),
    exportLearner,
  );

  contextCommand(
    learnerCommand(learner, 'erase', "erase a learner's data; report what others still hold")
      .option('--dry-run', 'only count what would be removed')
      .addOption(
        new Option('--mode <mode>', 'anonymize keeps points in lessons with at least 5 records')
          .choices(erasureModes)
          .default('erase'),
      ),
    eraseLearner,
  );
}

/** Adds a command that names a learner. */
function learnerCommand(group: Command, name: string, description: string): Command {
  return group
    .command(name)
    .description(description)
    .argument(
      '<id>',
      'the learnerId of the embed tokens; with --platform, the id of the LTI user',
      parseLearnerId,
    )
    .requiredOption('--org <slug>', 'the organization')
    .option('--platform <id>', 'the LTI platform of the user', parseUuid);
}

/** @throws {LecternError} NOT_FOUND for an unknown organization. */
async function subjectOf(
  { db }: CommandContext,
  id: string,
  { org, platform }: LearnerOptions,
): Promise<LearnerSubject> {
  const { _id: organizationId } = await requireOrganization(db, org);
  return learnerSubject(organizationId, id, platform);
}

async function exportLearner(
  context: CommandContext,
  id: string,
  options: LearnerOptions & { out: string },
): Promise<CommandResult> {
  const { db, secrets, audit, signal } = context;
  const learner = await subjectOf(context, id, options);
  const exportedAt = new Date();
  const target = await outputTarget(options.out, exportName(exportedAt));
  const { keyPepper: pepper } = await secrets();
  await audit(learner.organizationId, 'learner.export', {
    target: { type: 'learner', id: pseudonymOf(pepper, learner) },
  });
  const zip = learnerZip({ db, pepper }, learner, exportedAt);
  await writeOutput(target, zip, signal, { isPersonal: true });
  const { path, isStdout } = target;
  return {
    json: { path },
    text: `Wrote the learner's data to ${path}`,
    printTo: isStdout ? 'stderr' : 'stdout',
  };
}

async function eraseLearner(
  context: CommandContext,
  id: string,
  { dryRun = false, mode, ...options }: EraseOptions,
): Promise<CommandResult> {
  const { db, store, secrets, audit, signal } = context;
  const learner = await subjectOf(context, id, options);
  const { organizationId } = learner;
  const { keyPepper: pepper } = await secrets();
  const target = { type: 'learner', id: pseudonymOf(pepper, learner) };
  if (dryRun) {
    const preview = await previewErasure(db, learner);
    await audit(organizationId, 'learner.erase', { target, details: { mode, isDryRun: true } });
    return { json: preview, text: ['Would remove:', ...linesOf(preview)].join('\n') };
  }
  const erasure = await requestErasure({ db, pepper }, learner, { mode });
  await audit(organizationId, 'learner.erase', { target, details: auditedErasure(erasure) });
  note('Tokens that were signed until now are rejected. The erasure takes about a minute.');
  const wait = (milliseconds: number) => delay(milliseconds, undefined, { signal });
  const report = presentReport(await finishErasure({ db, store, pepper }, erasure, { wait }));
  return { json: report, text: [`Finished erasure ${report.id}. Removed:`, ...linesOf(report)].join('\n') };
}

const names: Record<(typeof recordKinds)[number], string> = {
  progress: 'progress records',
  ltiProgress: 'progress records of LTI',
  grades: 'grades',
  deliveries: 'events and statements, sent or waiting',
};

function linesOf({
  removed,
  downstream,
}: {
  removed: RecordCounts;
  downstream: Downstream | null;
}): string[] {
  const { gradebooks = [], recordStores = [], webhooks = [] } = downstream ?? {};
  const others = [
    ...gradebooks.map(({ issuer, grades }) => `the gradebook of ${issuer}: ${count(grades, 'grade')}`),
    ...recordStores.map(({ endpoint }) => `the learning record store at ${endpoint}`),
    ...webhooks.map(({ url, isNotified }) => `${url}, which is ${isNotified ? '' : 'not '}notified`),
  ];
  return [
    ...recordKinds.map((kind) => `  ${removed[kind]} ${names[kind]}`),
    ...(others.length === 0 ? [] : ['Others may still hold data of the learner:']),
    ...others.map((line) => `  ${line}`),
  ];
}
