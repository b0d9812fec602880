import type { Command } from 'commander';
import { answers } from '../json-output.ts';
import { withContext } from '../context.ts';
import { findLessonVersions, findVersionNumbered } from '../lessons.ts';
import { describePreview, previewLink } from '../play-links.ts';
import { countValue, uuidValue } from '../option-parsers.ts';

/** `lectern lesson preview`: lets an author play a draft. */
export function addLessonPreviewCommand(group: Command): void {
  answers(
    group
      .command('preview')
      .description('print a link that plays a version, including a draft, for an hour; it records nothing')
      .argument('<lesson-id>', 'as lesson list shows it', uuidValue)
      .option('--version <number>', 'the newest one when left out', countValue),
    (lessonId: string, options: { version?: number }) =>
      withContext(async (context) => {
        const lesson = await findLessonVersions(context.db, lessonId);
        const version = findVersionNumbered(lesson, options.version);
        const { _id: versionId, versionNumber, status } = version;
        const link = await previewLink(context, version);
        const lines = [`${version.title}, version ${versionNumber} (${status})`, ...describePreview(link)];
        return { json: { lessonId, versionId, versionNumber, status, ...link }, text: lines.join('\n') };
      }),
  );
}
