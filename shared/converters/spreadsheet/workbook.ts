import { posix } from 'node:path';
import { SourceFault } from '../source.ts';
import type { Source } from '../source.ts';
import { childOf, childrenOf, parseXml, textIn } from '../xml.ts';
import type { XmlElement } from '../xml.ts';

/** Questions, below a row with names. */
export const maxRows = 20_000;
const maxColumns = 200;

/** Reads the cells of the first sheet of an Excel workbook (Office Open XML). */
export async function readWorkbook(source: Source): Promise<string[][]> {
  const workbook = await xmlAt(source, 'xl/workbook.xml');
  const [sheet] = childrenOf(childOf(workbook, 'sheets'), 'sheet');
  const id = sheet?.attributes['r:id'];
  const relations = source.has('xl/_rels/workbook.xml.rels')
    ? childrenOf(await xmlAt(source, 'xl/_rels/workbook.xml.rels'), 'Relationship')
    : [];
  const target = relations.find(({ attributes }) => attributes.Id === id)?.attributes.Target;
  const written = target ?? 'worksheets/sheet1.xml';
  const path = written.startsWith('/') ? written.slice(1) : posix.normalize(`xl/${written}`);
  if (!source.has(path)) throw new SourceFault(`${source.name}: has no sheet`);
  const strings = source.has('xl/sharedStrings.xml')
    ? childrenOf(await xmlAt(source, 'xl/sharedStrings.xml'), 'si').map(richText)
    : [];
  const rows: string[][] = [];
  for (const row of childrenOf(childOf(await xmlAt(source, path), 'sheetData'), 'row')) {
    const cells: string[] = [];
    for (const cell of childrenOf(row, 'c')) {
      const column = cell.attributes.r === undefined ? cells.length : columnOf(cell.attributes.r);
      if (column >= maxColumns) continue;
      while (cells.length < column) cells.push('');
      cells[column] = valueOf(cell, strings);
    }
    // Excel leaves out empty rows.
    const number = Number(row.attributes.r ?? rows.length + 1);
    while (rows.length < Math.min(number - 1, maxRows + 1)) rows.push([]);
    rows.push(cells);
  }
  return rows;
}

async function xmlAt(source: Source, path: string): Promise<XmlElement> {
  return parseXml(await source.text(path), `${source.name}: ${path}`);
}

/** Returns the column of a cell such as `AB12`, from 0. */
function columnOf(reference: string): number {
  const letters = /^[A-Z]+/i.exec(reference)?.[0].toUpperCase() ?? 'A';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function valueOf(cell: XmlElement, strings: readonly string[]): string {
  const value = textIn(cell, 'v');
  const { t: type } = cell.attributes;
  if (type === 's') return strings[Number(value)] ?? '';
  if (type === 'inlineStr') return richText(childOf(cell, 'is'));
  if (type === 'b') return value === '1' ? 'true' : 'false';
  if (type === 'e') return '';
  // Dates may be texts: t="d".
  if (value === '' || type === 'str' || !Number.isFinite(Number(value))) return value;
  // Excel writes binary fractions: 0.30000000000000004.
  return String(Number(Number(value).toPrecision(15)));
}

/** Joins the runs of a formatted text. */
function richText(element: XmlElement | undefined): string {
  const own = childOf(element, 't')?.text ?? '';
  return (
    own +
    childrenOf(element, 'r')
      .map((run) => childOf(run, 't')?.text ?? '')
      .join('')
  );
}
