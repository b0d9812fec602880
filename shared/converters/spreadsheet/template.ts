import { strToU8, zipSync } from 'fflate';

/** The types of questions that a row may name. */
export type RowType =
  | 'multiple choice'
  | 'true/false'
  | 'short answer'
  | 'number'
  | 'matching'
  | 'ordering'
  | 'open'
  | 'text';

/** The columns of the template. There may be more choices. */
const columns = [
  ...['type', 'question', 'choice 1', 'choice 2', 'choice 3', 'right', 'feedback', 'hint', 'points', 'media'],
] as const;

type Example = Partial<Record<(typeof columns)[number], string>>;

/** A row of each type, to change. */
const examples: Record<RowType, Example> = {
  'multiple choice': {
    ...{ question: 'Which tide comes at full moon?', 'choice 1': 'Spring tide', 'choice 2': 'Neap tide' },
    ...{ right: 'A', feedback: 'Sun and Moon pull in one line.', points: '2' },
  },
  'true/false': { question: 'The Sun has no influence on the tides.', right: 'false' },
  'short answer': { question: 'What comes twice a month?', right: 'spring tide|syzygy' },
  number: { question: 'How long is a lunar day?', right: '24.8 ± 0.1 h' },
  matching: {
    ...{ question: 'Which tide?', 'choice 1': 'New moon = Spring tide', 'choice 2': 'Half moon = Neap tide' },
  },
  ordering: {
    question: 'In order, please.',
    ...{ 'choice 1': 'Moonrise', 'choice 2': 'High water', 'choice 3': 'Moonset' },
  },
  open: { question: 'Why are there two bulges?', right: 'A sample answer' },
  text: { question: 'Look at the harbour.', media: 'https://example.org/harbour.jpg' },
};

const rows = [
  [...columns],
  ...Object.entries(examples).map(([type, example]) =>
    columns.map((column) => (column === 'type' ? type : (example[column] ?? ''))),
  ),
];

/** Returns the template as CSV, with a mark by which Excel recognizes UTF-8. */
export function csvTemplate(): string {
  const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `\uFEFF${rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`;
}

const namespaces = {
  types: 'http://schemas.openxmlformats.org/package/2006/content-types',
  relations: 'http://schemas.openxmlformats.org/package/2006/relationships',
  office: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
  sheet: 'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
};
const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Returns the template as an Excel workbook (Office Open XML) with one sheet. */
export function xlsxTemplate(): Uint8Array {
  const relation = (type: string, target: string) =>
    `<Relationships xmlns="${namespaces.relations}"><Relationship Id="rId1" Type="${namespaces.office}/${type}" Target="${target}"/></Relationships>`;
  const files = {
    '[Content_Types].xml':
      `<Types xmlns="${namespaces.types}">` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      `<Override PartName="/xl/workbook.xml" ContentType="${mimeType}.sheet.main+xml"/>` +
      `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${mimeType}.worksheet+xml"/></Types>`,
    '_rels/.rels': relation('officeDocument', 'xl/workbook.xml'),
    'xl/workbook.xml': `<workbook xmlns="${namespaces.sheet}" xmlns:r="${namespaces.office}"><sheets><sheet name="Questions" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relation('worksheet', 'worksheets/sheet1.xml'),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${namespaces.sheet}"><sheetData>${rows.map(rowXml).join('')}</sheetData></worksheet>`,
  };
  const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
  return zipSync(
    Object.fromEntries(Object.entries(files).map(([name, xml]) => [name, strToU8(declaration + xml)])),
  );
}

function rowXml(cells: readonly string[], index: number): string {
  const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const filled = cells.map((text, column) =>
    text === ''
      ? ''
      : `<c r="${String.fromCharCode(65 + column)}${index + 1}" t="inlineStr"><is><t>${escape(text)}</t></is></c>`,
  );
  return `<row r="${index + 1}">${filled.join('')}</row>`;
}
