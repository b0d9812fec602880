import { CsvError, parse } from 'csv-parse/sync';
import { SourceFault } from '../source.ts';

/** Parses a table with commas, semicolons or tabs between its cells, as its first line has. */
export function parseCsv(text: string, name: string): string[][] {
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
