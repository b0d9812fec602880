import { Option } from 'commander';
import type { Command } from 'commander';
import { readAnswerColumns } from '../../shared/learners/answer-columns.ts';
import { answersAsCsv, learnersAsCsv, learnersAsNdjson } from '../../shared/learners/learner-tables.ts';
import { findContentParts } from '../../shared/models/lesson-content.ts';
import { learnerOrders, learnerSources, learnersOf } from '../../shared/models/learner-list.ts';
import type { LearnerOrder, LearnerSource } from '../../shared/models/learner-list.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { progressStatuses } from '../../shared/progress/state.ts';
import type { ProgressStatus } from '../../shared/progress/state.ts';
import { contextCommand } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { findLessonVersions, findVersionNumbered, latestPublished } from '../lessons/find-lesson.ts';
import type { LessonWithVersions } from '../lessons/find-lesson.ts';
import { parseCount, parseTime, parseUuid } from '../terminal/option-parsers.ts';
import { count } from '../terminal/output.ts';
import { outputTarget, writeOutput } from '../terminal/output-file.ts';

const formats = ['csv', 'ndjson', 'answers'] as const;

interface LearnersOptions {
  out: string;
  format: (typeof formats)[number];
  status?: ProgressStatus;
  since?: Date;
  version?: number;
  source?: LearnerSource;
  platform?: string;
  order: LearnerOrder;
}

/** `lectern lesson learners`: writes what the API returns as learners.csv, learners.ndjson and answers.csv. */
export function addLessonLearnersCommand(group: Command): void {
  const command = group
    .command('learners')
    .description("write a lesson's learners, or their answers, to a file")
    .argument('<lesson-id>', 'the lesson; see lesson list', parseUuid)
    .requiredOption('--out <file>', 'the file to write, or a folder; /dev/stdout prints it')
    .addOption(
      new Option('--format <format>', 'rows, lines of JSON, or a column for each question')
        .choices(formats)
        .default('csv'),
    )
    .addOption(new Option('--status <status>', 'only learners with this status').choices(progressStatuses))
    .option(
      '--since <time>',
      'only learners who were active from this time on, such as 2027-01-31T12:00:00Z',
      parseTime,
    )
    .option('--version <number>', 'only learners of this version', parseCount)
    .addOption(
      new Option('--source <source>', 'learners of embedded lessons, or of platforms').choices(
        learnerSources,
      ),
    )
    .option('--platform <id>', 'only users of this platform; see platform list', parseUuid)
    .addOption(new Option('--order <order>', 'by last activity').choices(learnerOrders).default('oldest'));
  contextCommand(command, async (context, lessonId: string, options: LearnersOptions) => {
    const lesson = await findLessonVersions(context.db, lessonId);
    const target = await outputTarget(options.out, fileNames[options.format]);
    const { organizationId } = lesson.lesson;
    await context.audit(organizationId, options.format === 'answers' ? 'answers.list' : 'learners.list', {
      target: { type: 'lesson', id: lessonId },
    });
    let learners = 0;
    const rows = await rowsOf(context, lesson, options, () => (learners += 1));
    await writeOutput(target, bytes(rows), context.signal, { isPersonal: true });
    const { path, isStdout } = target;
    const text = `Wrote ${count(learners, 'learner')} to ${path}`;
    return { json: { path, learners }, text, printTo: isStdout ? 'stderr' : 'stdout' };
  });
}

const fileNames = { csv: 'learners.csv', ndjson: 'learners.ndjson', answers: 'answers.csv' };

async function rowsOf(
  { db }: CommandContext,
  found: LessonWithVersions,
  { format, version: number, platform: platformId, order, ...filters }: LearnersOptions,
  onLearner: () => void,
): Promise<AsyncIterable<string>> {
  const { _id: lessonId, organizationId } = found.lesson;
  const version = number === undefined ? undefined : findVersionNumbered(found, number);
  const { status, since, source } = filters;
  const selection = { organizationId, lessonId, status, since, source, platformId, versionId: version?._id };
  const withItems = format === 'answers';
  const batch = withItems ? 100 : 500;
  const learners = counted(learnersOf(db, selection, { order, after: null, batch, withItems }), onLearner);
  if (format === 'csv') return learnersAsCsv(learners);
  if (format === 'ndjson') return learnersAsNdjson(learners);
  const shown = version ?? latestPublished(found);
  const content = shown && (await findContentParts(db, shown._id));
  if (shown === null || content === null) {
    const message = `No version of ${found.lesson.slug} is published: name the version of the questions with --version.`;
    throw new LecternError('NOT_FOUND', message);
  }
  return answersAsCsv(learners, await readAnswerColumns(content, shown));
}

async function* counted<T>(entries: AsyncIterable<T>, onEntry: () => void): AsyncGenerator<T> {
  for await (const entry of entries) {
    onEntry();
    yield entry;
  }
}

async function* bytes(chunks: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
