import { setImmediate as otherRequests } from 'node:timers/promises';
import { stringify } from 'csv-stringify/sync';
import type { ListedLearner } from '../models/learner-list.ts';
import { widgetKey } from '../progress/outline.ts';
import { answerText } from './answer-columns.ts';
import type { AnswerColumn } from './answer-columns.ts';
import { learnerColumns, presentLearner } from './listed-learner.ts';

/** The number of rows that are formatted at once. Larger chunks delay other requests; smaller ones cost more writes. */
const rowsPerChunk = 200;
const cellsPerChunk = 10_000;
/** Parsing this much JSON takes about 20 ms; a record has up to twice as much. */
const charactersPerChunk = 500_000;

export type Cell = string | number | null;

/** Yields learners as lines of JSON. */
export async function* learnersAsNdjson(learners: AsyncIterable<ListedLearner>): AsyncGenerator<string> {
  for await (const rows of chunks(learners))
    yield rows.map((learner) => `${JSON.stringify(presentLearner(learner))}\n`).join('');
}

/** Yields learners as CSV, with a header. */
export async function* learnersAsCsv(learners: AsyncIterable<ListedLearner>): AsyncGenerator<string> {
  yield csv([[...learnerColumns]]);
  for await (const rows of chunks(learners)) {
    yield csv(rows.map((learner) => cellsOf(learner, learnerColumns)));
  }
}

const identifying = [
  ...['source', 'learnerId', 'ltiUserId', 'platformId', 'contextId', 'status', 'percent'],
  ...['lastActivityAt', 'versionId'],
] as const;

/**
 * Yields the answers of learners as CSV: a row for each learner, and a column for each question of a version. Learners
 * must have been read with their answers.
 *
 * @param questions as `readAnswerColumns` returns them
 */
export async function* answersAsCsv(
  learners: AsyncIterable<ListedLearner>,
  questions: readonly AnswerColumn[],
): AsyncGenerator<string> {
  yield csv([[...identifying, ...questions.map(({ title }) => title)]]);
  const rowsAtOnce = Math.ceil(Math.min(rowsPerChunk, cellsPerChunk / (questions.length + 1)));
  for await (const rows of chunks(learners, rowsAtOnce)) {
    await otherRequests();
    yield csv(
      rows.map((learner) => {
        const given = new Map(
          learner.items?.map((item) => [widgetKey(item.stepId, item.widgetId), item.answer]),
        );
        const answers = questions.map(({ key, interaction }): Cell => {
          const answer = given.get(key);
          return answer === undefined ? null : answerText(interaction, JSON.parse(answer));
        });
        return [...cellsOf(learner, identifying), ...answers];
      }),
    );
  }
}

function cellsOf(learner: ListedLearner, columns: readonly string[]): Cell[] {
  const presented: Partial<Record<string, Cell>> = presentLearner(learner);
  return columns.map((column) => presented[column] ?? null);
}

/** Prints rows. A text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function csv(rows: readonly Cell[][]): string {
  // By default, only texts with CRLF are quoted. A lone LF or CR would begin a row, perhaps with a formula.
  const options = { escape_formulas: true, record_delimiter: 'windows', quoted_match: /[\r\n]/ } as const;
  return stringify(rows as Cell[][], options);
}

async function* chunks(
  learners: AsyncIterable<ListedLearner>,
  length = rowsPerChunk,
): AsyncGenerator<ListedLearner[]> {
  let chunk: ListedLearner[] = [];
  let characters = 0;
  for await (const learner of learners) {
    for (const { answer } of learner.items ?? []) characters += answer.length;
    if (chunk.push(learner) < length && characters < charactersPerChunk) continue;
    yield chunk;
    chunk = [];
    characters = 0;
  }
  if (chunk.length > 0) yield chunk;
}
