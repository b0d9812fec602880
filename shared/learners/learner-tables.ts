import { setImmediate as otherRequests } from 'node:timers/promises';
import { stringify } from 'csv-stringify/sync';
import type { ListedLearner } from '../models/learner-list.ts';
import { widgetKey } from '../progress/outline.ts';
import { answerText } from './answer-columns.ts';
import type { AnswerColumn } from './answer-columns.ts';
import { learnerColumns, presentLearner } from './listed-learner.ts';

/** What is formatted at once: this many characters of JSON or of CSV take about 20 ms. */
const charactersAtOnce = 100_000;
/** What a cell or a line costs beside its text. */
const entryCharacters = 50;

export type Cell = string | number | null;

/** Yields learners as lines of JSON. */
export async function* learnersAsNdjson(learners: AsyncIterable<ListedLearner>): AsyncGenerator<string> {
  let lines = '';
  for await (const learner of learners) {
    lines += `${JSON.stringify(presentLearner(learner))}\n`;
    if (lines.length < charactersAtOnce) continue;
    yield lines;
    lines = '';
  }
  if (lines !== '') yield lines;
}

/** Yields learners as CSV, with a header. */
export function learnersAsCsv(learners: AsyncIterable<ListedLearner>): AsyncGenerator<string> {
  return csv(tableOf(learnerColumns, learners, (learner) => cellsOf(learner, learnerColumns)));
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
export function answersAsCsv(
  learners: AsyncIterable<ListedLearner>,
  questions: readonly AnswerColumn[],
): AsyncGenerator<string> {
  const header = [...identifying, ...questions.map(({ title }) => title)];
  return csv(
    tableOf(header, learners, function* (learner): Generator<Cell> {
      yield* cellsOf(learner, identifying);
      const given = new Map(
        learner.items?.map((item) => [widgetKey(item.stepId, item.widgetId), item.answer]),
      );
      for (const { key, interaction } of questions) {
        const answer = given.get(key);
        yield answer === undefined ? null : answerText(interaction, JSON.parse(answer));
      }
    }),
  );
}

async function* tableOf(
  header: readonly string[],
  learners: AsyncIterable<ListedLearner>,
  rowOf: (learner: ListedLearner) => Iterable<Cell>,
): AsyncGenerator<Iterable<Cell>> {
  yield header;
  for await (const learner of learners) yield rowOf(learner);
}

function cellsOf(learner: ListedLearner, columns: readonly string[]): Cell[] {
  const presented: Partial<Record<string, Cell>> = presentLearner(learner);
  return columns.map((column) => presented[column] ?? null);
}

/**
 * Yields rows as CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front. Other requests run
 * between the parts of the text, also within a row: the answers of one learner may have a megabyte.
 */
export async function* csv(rows: AsyncIterable<Iterable<Cell>>): AsyncGenerator<string> {
  let lines: Cell[][] = [];
  let characters = 0;
  let separator = '';
  const print = (): string => {
    const text = separator + printLines(lines);
    [lines, characters, separator] = [[], 0, ''];
    return text;
  };
  for await (const row of rows) {
    let line: Cell[] = [];
    lines.push(line);
    for (const cell of row) {
      if (characters > charactersAtOnce && line.length > 0) {
        yield print().slice(0, -lineEnd.length);
        await otherRequests();
        line = [];
        lines.push(line);
        separator = ',';
      }
      line.push(cell);
      characters += entryCharacters + (typeof cell === 'string' ? cell.length : 0);
    }
    if (characters <= charactersAtOnce) continue;
    yield print();
    await otherRequests();
  }
  yield print();
}

const lineEnd = '\r\n';

function printLines(lines: Cell[][]): string {
  // By default, only texts with CRLF are quoted. A lone LF or CR would begin a row, perhaps with a formula.
  return stringify(lines, { escape_formulas: true, record_delimiter: lineEnd, quoted_match: /[\r\n]/ });
}
