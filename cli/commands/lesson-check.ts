import type { Command } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../shared/platform/config.ts';
import { quote } from '../../shared/lessons/json-values.ts';
import { answers } from '../terminal/json-output.ts';
import type { Answer } from '../terminal/json-output.ts';
import { withContext } from '../installation/context.ts';
import { checkVersion } from '../lessons/lesson-checks.ts';
import type { VersionCheck } from '../lessons/lesson-checks.ts';
import { findLessonVersions, findVersionNumbered, presentLesson } from '../lessons/find-lesson.ts';
import { count } from '../terminal/output.ts';
import { countValue } from '../terminal/option-parsers.ts';

/** External media that are printed; `--json` has all. */
const printedMedia = 20;

/** `lectern lesson check`: what an author should correct before publishing. */
export function addLessonCheckCommand(group: Command): void {
  answers(
    group
      .command('check')
      .description(
        'tell what keeps a version or a package from being played (exit code 1), and what it is played without',
      )
      .argument('<lesson>', 'its id, as lesson list shows it, or the path of a package: a folder or a ZIP')
      .option('--version <number>', 'of a lesson id; the newest one when left out', countValue),
    (lesson: string, options: { version?: number }, command: Command) => {
      if (z.guid().safeParse(lesson).success) return checkStored(lesson.toLowerCase(), options.version);
      if (options.version !== undefined) {
        command.error('lectern: --version goes with a lesson id, which must be a UUID');
      }
      return checkPath(lesson);
    },
  );
}

function checkStored(lessonId: string, number?: number): Promise<Answer> {
  return withContext(async (context) => {
    const lesson = await findLessonVersions(context.db, lessonId);
    const version = findVersionNumbered(lesson, number);
    const check = await checkVersion(context, version);
    return present(`${lesson.lesson.title}, version ${version.versionNumber}`, presentLesson(lesson), check);
  });
}

/** Needs no database, and leaves nothing behind that an interrupt would have to clean up. */
async function checkPath(path: string): Promise<Answer> {
  const { checkPackage } = await import('../lessons/package-checks.ts');
  const { signal } = new AbortController();
  const { package: read, ...check } = await checkPackage({ config: loadConfig(), signal }, path);
  return present(`${path}: ${read.title}, version ${read.versionNumber}`, { path, ...read }, check);
}

function present(title: string, json: object, { errors, warnings, externalMedia }: VersionCheck): Answer {
  const valid = errors.length === 0;
  const lines = [
    title,
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
  const more = media.length - printedMedia;
  return [
    `  downloaded on export or play: ${count(media.length, 'media file')}`,
    ...media.slice(0, printedMedia).map(({ id, sourceUrl }) => `    ${id}  ${quote(sourceUrl, 300)}`),
    ...(more > 0 ? [`    and ${more} more; --json lists all`] : []),
  ];
}
