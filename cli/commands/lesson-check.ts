import type { Command } from 'commander';
import { answers } from '../answers.ts';
import { withContext } from '../context.ts';
import { checkVersion } from '../lesson-checks.ts';
import { findLessonVersions, findVersionNumbered, presentLesson } from '../lessons.ts';
import { countValue, uuidValue } from '../values.ts';

/** `lectern lesson check`: what an author should mend before publishing. */
export function addLessonCheckCommand(group: Command): void {
  answers(
    group
      .command('check')
      .description('tell what keeps a version from being played (exit code 1), and what it is played without')
      .argument('<lesson-id>', 'as lesson list shows it', uuidValue)
      .option('--version <number>', 'the newest one when left out', countValue),
    (lessonId: string, options: { version?: number }) =>
      withContext(async ({ db }) => {
        const lesson = await findLessonVersions(db, lessonId);
        const version = findVersionNumbered(lesson, options.version);
        const { errors, missing } = await checkVersion(db, version);
        const warnings = [...missing.media, ...missing.widgets];
        const valid = errors.length === 0;
        const lines = [
          `${lesson.lesson.title}, version ${version.versionNumber}`,
          ...errors.map((error) => `  error: ${error.message}`),
          ...warnings.map((warning) => `  warning: ${warning}`),
          ...(valid && warnings.length === 0 ? ['  nothing to mend'] : []),
        ];
        const json = { ...presentLesson(lesson), playability: { valid, errors }, warnings };
        return { json, text: lines.join('\n'), failed: !valid };
      }),
  );
}
