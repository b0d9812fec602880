import type { Command } from 'commander';
import type { AuditAction } from '../../shared/models/audit-entry.ts';
import type { ImportedVersion } from '../../shared/packages/import.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { requireOrganization, withContext } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { findMissing } from '../../shared/publishing/check-version.ts';
import { count, note } from '../terminal/output.ts';
import { withPackageFaults } from '../../shared/packages/package-error.ts';
import { describeReport, presentReport } from '../lessons/loss-report.ts';
import { conversionOf, moduleOption, questionsPerStepOption } from '../lessons/conversion-options.ts';
import type { ConversionFlags } from '../lessons/conversion-options.ts';
import { describePreview, previewOfPublished } from '../lessons/play-links.ts';
import type { PlayLink } from '../lessons/play-links.ts';
import { prebuildArchive } from '../lessons/prebuild.ts';
import { fileProgressBar } from '../terminal/progress-bar.ts';
import { parseHttpUrl } from '../terminal/option-parsers.ts';

interface ImportOptions extends ConversionFlags {
  org: string;
  publish?: boolean;
  force?: boolean;
  asNew?: boolean;
  mediaBaseUrl?: string;
}

/** `lectern lesson import` */
export function addLessonImportCommand(group: Command): void {
  const command = group.command('import');
  withJsonOutput(
    command
      .description('import a lesson package, or a file in another format, as a new version')
      .argument('<path>', 'the package, a folder or a ZIP, or a file that lesson convert reads')
      .requiredOption('--org <slug>', 'the organization that will own it')
      .option('--publish', 'publish the version')
      .option('--force', 'with --publish: publish it even if it cannot be played yet')
      .option('--as-new', 'give lesson, version and media new ids')
      .option(
        '--media-base-url <url>',
        'media stay at this URL under their file names, and are downloaded for exports',
        parseHttpUrl,
      )
      .addOption(questionsPerStepOption())
      .addOption(moduleOption()),
    (path: string, options: ImportOptions) => {
      if (options.force === true && options.publish !== true) {
        command.error('lectern: --force requires --publish');
      }
      return withContext(async (context) => {
        const imported = await importWithProgress(context, path, options);
        await recordIn(context, 'lesson.import', imported);
        if (options.publish !== true) return present(imported, null);
        const published = await publish(context, imported, options);
        await recordIn(context, 'version.publish', published);
        return present(published, await previewOfPublished(context, published.version));
      });
    },
  );
}

async function recordIn(
  { audit }: CommandContext,
  action: AuditAction,
  { version }: ImportedVersion,
): Promise<void> {
  const { _id: id, organizationId, lessonId } = version;
  await audit(organizationId, action, { target: { type: 'version', id }, details: { lessonId } });
}

async function importWithProgress(
  { config, db, store, signal }: CommandContext,
  path: string,
  { org, asNew = false, mediaBaseUrl, ...flags }: ImportOptions,
): Promise<ImportedVersion> {
  const organization = await requireOrganization(db, org);
  const { importPackage } = await import('../../shared/packages/import.ts');
  const bar = fileProgressBar('Importing');
  return withPackageFaults(`Cannot import ${path}`, async () => {
    const imported = await importPackage({ db, store, config }, organization, path, {
      asNew,
      signal,
      onProgress: (progress) => bar.update(progress),
      ...(mediaBaseUrl !== undefined && { mediaBaseUrl }),
      conversion: conversionOf(flags),
    });
    bar.stop();
    for (const warning of imported.warnings) note(`warning: ${warning}`);
    return imported;
  }).finally(() => bar.stop());
}

async function publish(
  context: CommandContext,
  imported: ImportedVersion,
  { force = false }: ImportOptions,
): Promise<ImportedVersion> {
  const { db, store } = context;
  const version = await publishVersion(db, store, imported.version._id, { force });
  await prebuildArchive(context, version);
  // The import itself warns of missing media.
  for (const warning of (await findMissing(db, version)).widgets) note(`warning: ${warning}`);
  return { ...imported, version };
}

function present(
  { version, media, widgets, warnings, report }: ImportedVersion,
  preview: PlayLink | null,
): CommandResult {
  const { lessonId, _id: versionId, versionNumber, slug, status } = version;
  const published = status === 'published';
  const text = [
    `Imported ${slug} version ${versionNumber} (${status}) with ${count(media, 'medium', 'media')}`,
    `  lesson  ${lessonId}`,
    `  version ${versionId}`,
    ...(report === null ? [] : describeReport(report)),
    ...(published
      ? describePreview(preview)
      : [
          `Preview it with: lectern lesson preview ${lessonId}`,
          `Publish it with: lectern lesson publish ${lessonId}`,
        ]),
  ].join('\n');
  const ids = { lessonId, versionId, versionNumber, slug };
  return {
    json: { ...ids, published, media, widgets, warnings, conversion: presentReport(report), preview },
    text,
  };
}
