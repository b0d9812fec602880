import { posix } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import type { ConvertedBlock, ConvertedLesson } from '../converted-lesson.ts';
import type { Converter } from '../converter.ts';
import { sectionsOf } from '../questions/question-steps.ts';
import { SourceFault } from '../source.ts';
import type { Source } from '../source.ts';
import { columnsIn, convertRow, looksLikeHeader } from './rows.ts';
import { maxRows, readWorkbook } from './workbook.ts';

/** Reads question banks in spreadsheets: CSV, or the first sheet of an Excel workbook. */
const spreadsheet: Converter = {
  id: 'spreadsheet',
  title: 'CSV and Excel',
  elements: [{ element: 'row', result: 'converted', becomes: 'the question that its `type` names' }],

  async detect(source) {
    if (source.has('xl/workbook.xml')) return true;
    const path = csvIn(source);
    if (path === null) return false;
    const text = source.files.length === 1 ? await source.onlyText() : await source.text(path);
    try {
      const [header = []] = parseCsv(text?.split('\n')[0] ?? '', path);
      return looksLikeHeader(header);
    } catch (error) {
      // A text whose first line has one quotation mark may be in another format.
      if (error instanceof SourceFault) return false;
      throw error;
    }
  },

  async convert(source, { media, report, faults, options }) {
    const rows = await rowsOf(source);
    const [header = [], ...questions] = rows;
    if (!looksLikeHeader(header)) {
      throw new SourceFault(
        `${source.name}: the first row must name the columns question and right, and may name type, choice 1, choice 2, …`,
      );
    }
    if (questions.length > maxRows) {
      throw new SourceFault(`${source.name}: has ${questions.length} rows; at most ${maxRows} are allowed`);
    }
    const columns = columnsIn(header);
    const blocks: ConvertedBlock[] = [];
    for (const [index, cells] of questions.entries()) {
      if (cells.every((cell) => cell.trim() === '')) continue;
      const path = `${source.name}:${index + 2}`;
      const { kind, title, picture, question, fault } = convertRow(cells, columns);
      if (fault !== null) faults.add(path, fault);
      if (picture !== '') {
        const src = /^https?:/i.test(picture) ? picture : media.file(posix.normalize(picture));
        if (src === null) faults.add(path, `${picture} is not beside the table: import a ZIP that has both`);
        else blocks.push({ type: 'Image', props: { src, alt: '' } });
      }
      const { block, losses } = question ?? { block: null, losses: [] };
      if (block !== null) blocks.push(block);
      report.add(
        { path, kind, title },
        { losses, block, ...(block === null && { result: 'dropped' as const }) },
      );
    }
    const { title } = source;
    return {
      ...{ identity: null, lesson: { title } },
      sections: sectionsOf([{ title: '', blocks }], { title, questionsPerStep: options.questionsPerStep }),
    } satisfies ConvertedLesson;
  },
};
export default spreadsheet;

/** Returns the path of the table: the only file, or the only CSV file beside media. */
function csvIn(source: Source): string | null {
  if (source.files.length === 1) return source.onlyPath;
  const [path, ...others] = source.files.map((file) => file.path).filter((one) => /\.csv$/i.test(one));
  return path === undefined || others.length > 0 ? null : path;
}

async function rowsOf(source: Source): Promise<string[][]> {
  if (source.has('xl/workbook.xml')) return readWorkbook(source);
  const path = csvIn(source) ?? source.onlyPath;
  return parseCsv(await source.text(path), path);
}

/** Parses a table with commas, semicolons or tabs between its cells, as its first line has. */
function parseCsv(text: string, name: string): string[][] {
  const header = text.replace(/^\uFEFF/, '').split('\n')[0] ?? '';
  const count = (separator: string) => header.split(separator).length;
  const [delimiter = ','] = [',', ';', '\t'].sort((a, b) => count(b) - count(a));
  try {
    return parse(text, {
      ...{ bom: true, delimiter, relax_column_count: true, skip_empty_lines: false, relax_quotes: true },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new SourceFault(`${name}: is not a table: ${error.message}`);
  }
}
