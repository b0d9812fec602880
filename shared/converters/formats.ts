import type { Converter } from './converter.ts';
import { refusePrograms } from './refused.ts';
import type { Source } from './source.ts';

/**
 * The formats that Lectern reads, in the order in which it tries them: those with a clear mark first. A format is a folder
 * here, whose module has a converter as its default export.
 */
const formats: readonly { name: string; load: () => Promise<{ default: Converter }> }[] = [
  { name: 'H5P', load: () => import('./h5p/h5p.ts') },
  { name: 'Common Cartridge and Canvas', load: () => import('./cartridge/cartridge.ts') },
  { name: 'QTI', load: () => import('./qti/qti.ts') },
  { name: 'Moodle XML', load: () => import('./moodle-xml/moodle-xml.ts') },
  { name: 'CSV, Excel', load: () => import('./spreadsheet/spreadsheet.ts') },
  { name: 'Markdown', load: () => import('./markdown/markdown.ts') },
  { name: 'Aiken', load: () => import('./aiken/aiken.ts') },
  { name: 'GIFT', load: () => import('./gift/gift.ts') },
];

/** The names of all formats, for people. */
export const formatNames = formats.map(({ name }) => name).join(', ');

/** Returns all converters. */
export function loadConverters(): Promise<Converter[]> {
  return Promise.all(formats.map(async ({ load }) => (await load()).default));
}

/**
 * Returns the converter of a source; null for an unknown format.
 *
 * @throws {SourceFault} for a format that Lectern refuses
 */
export async function findConverter(source: Source): Promise<Converter | null> {
  await refusePrograms(source);
  for (const { load } of formats) {
    const converter = (await load()).default;
    if (await converter.detect(source)) return converter;
  }
  return null;
}
