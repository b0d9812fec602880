import type { Command } from 'commander';
import { quote } from '../../shared/lessons/quote.ts';
import { answers } from '../answers.ts';
import { withContext } from '../context.ts';
import { checkVersion } from '../lesson-checks.ts';
import type { VersionCheck } from '../lesson-checks.ts';
import { findLessonVersions, findVersionNumbered, presentLesson } from '../lessons.ts';
import { count } from '../output.ts';
import { countValue, uuidValue } from '../values.ts';

/** External media that are printed; `--json` has all. */
const printedMedia = 20;

/** `lectern lesson check`: what an author should correct before publishing. */
export function addLessonCheckCommand(group: Command): void {
  answers(
    group
      .command('check')
      .description('tell what keeps a version from being played (exit code 1), and what it is played without')
      .argument('<lesson-id>', 'as lesson list shows it', uuidValue)
      .option('--version <number>', 'the newest one when left out', countValue),
    (lessonId: string, options: { version?: number }) =>
      withContext(async (context) => {
        const lesson = await findLessonVersions(context.db, lessonId);
        const version = findVersionNumbered(lesson, options.version);
        const { errors, warnings, externalMedia } = await checkVersion(context, version);
        const valid = errors.length === 0;
        const lines = [
          `${lesson.lesson.title}, version ${version.versionNumber}`,
          ...errors.map((error) => `  error: ${error.message}`),
          ...warnings.map((warning) => `  warning: ${warning}`),
          ...(valid && warnings.length === 0 ? ['  nothing to correct'] : []),
          ...externalLines(externalMedia),
        ];
        const json = { ...presentLesson(lesson), playability: { valid, errors }, warnings, externalMedia };
        return { json, text: lines.join('\n'), failed: !valid };
      }),
  );
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
