import { posix } from 'node:path';
import type { ConvertedBlock, ConvertedLesson } from '../converted-lesson.ts';
import type { Converter } from '../converter.ts';
import { sectionsOf } from '../questions/question-steps.ts';
import { SourceFault } from '../source.ts';
import type { Source } from '../source.ts';
import { columnsIn, convertRow, looksLikeHeader } from './rows.ts';
import { parseCsv } from './csv.ts';
import { readWorkbook } from './workbook.ts';

const maxRows = 20_000;

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
    const [header = []] = parseCsv(text?.split('\n')[0] ?? '', path);
    return looksLikeHeader(header);
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
      const losses: string[] = [];
      if (picture !== '') {
        const src = /^https?:/i.test(picture) ? picture : media.file(posix.normalize(picture));
        if (src === null) faults.add(path, `${picture} is not beside the table: import a ZIP that has both`);
        else blocks.push({ type: 'Image', props: { src, alt: '' } });
      }
      const { block, losses: lost } = question ?? { block: null, losses: [] };
      if (block !== null) blocks.push(block);
      report.add(
        { path, kind, title },
        { losses: [...losses, ...lost], block, ...(block === null && { result: 'dropped' as const }) },
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
