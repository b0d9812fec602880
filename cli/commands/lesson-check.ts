import type { Command } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../shared/platform/config.ts';
import { quote } from '../../shared/lessons/json-values.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { withContext } from '../installation/context.ts';
import { checkVersion } from '../../shared/publishing/check-version.ts';
import type { VersionCheck } from '../../shared/publishing/check-version.ts';
import type { PackageCheck } from '../lessons/package-checks.ts';
import { withDownloader } from '../../shared/media/downloads/downloader.ts';
import { findLessonVersions, findVersionNumbered, presentLesson } from '../lessons/find-lesson.ts';
import { describeReport, presentReport } from '../lessons/loss-report.ts';
import type { StoredReport } from '../../shared/lessons/loss-report.ts';
import { count } from '../terminal/output.ts';
import { parseCount } from '../terminal/option-parsers.ts';

/** The maximum number of printed external media; `--json` has all. */
const maxPrintedMedia = 20;

/** `lectern lesson check`: reports what an author should correct before publishing. */
export function addLessonCheckCommand(group: Command): void {
  withJsonOutput(
    group
      .command('check')
      .description(
        'report why a version or a package cannot be played (exit code 1), what is missing, and probable mistakes',
      )
      .argument(
        '<lesson>',
        'a lesson id (see lesson list), or a path: of a package, or of a file that lesson convert reads',
      )
      .option('--version <number>', 'with a lesson id: which version; by default the newest', parseCount),
    (lesson: string, options: { version?: number }, command: Command) => {
      if (z.guid().safeParse(lesson).success) return checkStored(lesson.toLowerCase(), options.version);
      if (options.version !== undefined) {
        command.error('lectern: --version requires a lesson id, which must be a UUID');
      }
      return checkPath(lesson);
    },
  );
}

function checkStored(lessonId: string, number?: number): Promise<CommandResult> {
  return withContext(async (context) => {
    const lesson = await findLessonVersions(context.db, lessonId);
    const version = findVersionNumbered(lesson, number);
    const check = await withDownloader(context.config, (downloader) =>
      checkVersion({ ...context, downloader }, version),
    );
    const warnings = check.warnings.map(({ message }) => message);
    const title = `${lesson.lesson.title}, version ${version.versionNumber}`;
    return present(title, presentLesson(lesson), { ...check, warnings });
  });
}

/** Checks a package without a database; there is nothing to clean up after an interrupt. */
async function checkPath(path: string): Promise<CommandResult> {
  const { checkPackage } = await import('../lessons/package-checks.ts');
  const { signal } = new AbortController();
  const { package: read, report, ...check } = await checkPackage({ config: loadConfig(), signal }, path);
  return present(
    `${path}: ${read.title}, version ${read.versionNumber}`,
    { path, ...read, conversion: presentReport(report) },
    check,
    report,
  );
}

function present(
  title: string,
  json: object,
  { errors, warnings, externalMedia }: Omit<PackageCheck, 'package' | 'report'>,
  report: StoredReport | null = null,
): CommandResult {
  const valid = errors.length === 0;
  const lines = [
    title,
    ...(report === null ? [] : describeReport(report)),
    ...errors.map((error) => `  error: ${error.message}`),
    ...warnings.map((warning) => `  warning: ${warning}`),
    ...(valid && warnings.length === 0 ? ['  nothing to correct'] : []),
    ...externalLines(externalMedia),
  ];
  return {
    json: { ...json, playability: { valid, errors }, warnings, externalMedia },
    text: lines.join('\n'),
    failed: !valid,
  };
}

function externalLines(media: VersionCheck['externalMedia']): string[] {
  if (media.length === 0) return [];
  const more = media.length - maxPrintedMedia;
  return [
    `  downloaded on export or play: ${count(media.length, 'media file')}`,
    ...media.slice(0, maxPrintedMedia).map(({ id, sourceUrl }) => `    ${id}  ${quote(sourceUrl, 300)}`),
    ...(more > 0 ? [`    and ${more} more; --json lists all`] : []),
  ];
}
