import { Option } from 'commander';
import type { Command } from 'commander';
import { LecternError } from '../../shared/platform/errors.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { packageParameters } from '../../shared/exports/package-query.ts';
import { profileOf, profileParameters, selectProfile } from '../../shared/exports/profiles.ts';
import type { ExportQuery } from '../../shared/exports/profiles.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { findLessonTheme } from '../../shared/models/theme.ts';
import { playerRelease } from '../../shared/player/player-release.ts';
import { contextCommand } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { requirePublicUrl } from '../installation/urls.ts';
import { findLessonVersions, findVersionNumbered, latestPublished } from '../lessons/find-lesson.ts';
import { formatBytes } from '../../shared/platform/format-bytes.ts';
import { outputTarget, writeOutput } from '../terminal/output-file.ts';
import { parseCount, parseUuid } from '../terminal/option-parsers.ts';

type ExportOptions = ExportQuery & {
  version?: number;
  out: string;
};

/** `lectern lesson export`: builds the archive in this process, without a queue or a worker. */
export function addLessonExportCommand(group: Command): void {
  const command = group
    .command('export')
    .description('write the ZIP of a published version to a file')
    .argument('<lesson-id>', 'the lesson; see lesson list', parseUuid)
    .requiredOption('--out <file>', "the ZIP to write, or a folder, in which it gets the archive's own name")
    .option('--version <number>', 'by default the latest published version', parseCount);
  for (const { name, values, help } of profileParameters)
    command.addOption(new Option(`--${name} <value>`, help).choices(values));
  for (const { name, values, help } of packageParameters) {
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const option = new Option(`--${flag} <${values === undefined ? 'percent' : 'value'}>`, help);
    command.addOption(values === undefined ? option : option.choices(values));
  }
  contextCommand(command, async (context, lessonId: string, options: ExportOptions) => {
    const version = await findPublished(context, lessonId, options.version);
    const profile = await selectProfile(options, {
      playerName: async () => (await playerRelease()).name,
      publicUrl: () => requirePublicUrl(context.config),
    });
    const job = exportJobOf(version, profile, await findLessonTheme(context.db, version));
    const name = profileOf(job).fileName(version);
    // Checked first, so that an invalid path fails before a long export.
    const target = await outputTarget(options.out, name);
    const { buildWithProgress } = await import('../lessons/build-export.ts');
    const archive = await buildWithProgress(context, { job, name });
    try {
      await writeOutput(target, archive.chunks(), context.signal);
    } finally {
      await archive.close();
    }
    const { size, sha256 } = archive;
    const { path, isStdout } = target;
    const text = `Wrote ${path} (${formatBytes(size)})\n  sha256 ${sha256}`;
    return { json: { path, size, sha256 }, text, printTo: isStdout ? 'stderr' : 'stdout' };
  });
}

async function findPublished(
  { db }: CommandContext,
  lessonId: string,
  number?: number,
): Promise<LessonVersion> {
  const lesson = await findLessonVersions(db, lessonId);
  const version = number === undefined ? latestPublished(lesson) : findVersionNumbered(lesson, number);
  if (version?.status === 'published') return version;
  const which = number === undefined ? 'No version' : `Version ${number}`;
  throw new LecternError(
    'NOT_FOUND',
    `${which} of ${lesson.lesson.slug} is published. See: lectern lesson publish --help`,
  );
}
