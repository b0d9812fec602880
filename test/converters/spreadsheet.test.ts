import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { messageOfFailure } from '../packages/package-folder.ts';
import { writeArchive, zipBytes } from '../packages/zip-builder.ts';
import { csvTemplate, xlsxTemplate } from '../../shared/converters/spreadsheet/template.ts';
import { convertFile, convertPath } from './convert.ts';

const header = [
  'type',
  'question',
  'choice 1',
  'choice 2',
  'choice 3',
  'right',
  'feedback',
  'points',
  'media',
];
const table = [
  header,
  ['multiple choice', 'Which tide?', 'Spring', 'Neap', '', 'A', 'In one line', '2', ''],
  ['', 'Which pull?', 'Moon', 'Sun', 'Mars', 'A, 2', '', '', ''],
  ['true/false', 'The Sun pulls.', '', '', '', 'TRUE', '', '', ''],
  ['short answer', 'A < B, "quoted"?', '', '', '', 'spring|syzygy', '', '', ''],
  ['number', 'How long?', '', '', '', '12,4 ± 0.1 h', '', '', ''],
  ['matching', 'Match', 'New = Spring', 'Half = Neap', '', '', '', '', ''],
  ['ordering', 'Order', 'Moonrise', 'High water', '', '', '', '', ''],
  ['', '', '', '', '', '', '', '', ''],
  ['open', 'Why?', '', '', '', 'Two bulges', '', '', ''],
  ['text', 'Read this', '', '', '', '', '', '', 'https://media.example/a.jpg'],
];
const cell = (text: string) => (/[",\n;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csv = (rows: string[][], separator: string) =>
  rows.map((row) => row.map(cell).join(separator)).join('\r\n');

/** Returns a workbook with shared strings, as Excel writes it. */
function workbook(rows: string[][]): Buffer {
  const strings = [...new Set(rows.flat())];
  const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const cells = (row: string[], line: number) =>
    row.map((text, column) =>
      text === ''
        ? ''
        : `<c r="${String.fromCharCode(65 + column)}${line}" t="s"><v>${strings.indexOf(text)}</v></c>`,
    );
  const data = rows.map((row, index) =>
    row.join('') === '' ? '' : `<row r="${index + 1}">${cells(row, index + 1).join('')}</row>`,
  );
  const files = {
    '[Content_Types].xml': '<Types/>',
    'xl/workbook.xml':
      '<workbook xmlns:r="r"><sheets><sheet name="Quiz" sheetId="1" r:id="rId3"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId3" Target="worksheets/quiz.xml"/></Relationships>',
    'xl/sharedStrings.xml': `<sst>${strings.map((text) => `<si><r><t>${escape(text)}</t></r></si>`).join('')}</sst>`,
    'xl/worksheets/quiz.xml': `<worksheet><sheetData>${data.join('')}</sheetData></worksheet>`,
  };
  return zipBytes(Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) })));
}

test.each([
  ['quiz.csv', Buffer.from(csv(table, ','))],
  ['quiz.csv', Buffer.from(`\ufeff${csv(table, ';')}`)],
  ['quiz.csv', Buffer.from(`\ufeff${csv(table, '\t')}`, 'utf16le')],
  ['quiz.xlsx', workbook(table)],
])('each row of %s is a question, and is in the report once', async (name, bytes) => {
  const { entries, steps } = await convertFile(name, bytes);
  expect(steps.quiz).toMatchObject([
    {
      type: 'MultipleChoice',
      props: { prompt: 'Which tide?', correct: ['a'], points: 2, explanation: 'In one line' },
    },
    { type: 'MultipleChoice', props: { correct: ['a', 'b'], multiple: true, partialCredit: true } },
    { type: 'TrueFalse', props: { correct: true } },
    {
      type: 'FillInTheBlanks',
      props: { prompt: 'A &lt; B, "quoted"?', blanks: [{ answers: ['spring', 'syzygy'] }] },
    },
    { type: 'Numeric', props: { correct: 12.4, tolerance: 0.1, unit: 'h' } },
    {
      type: 'Matching',
      props: {
        pairs: [
          { left: 'New', right: 'Spring' },
          { left: 'Half', right: 'Neap' },
        ],
      },
    },
    { type: 'Ordering', props: { items: [{ html: 'Moonrise' }, { html: 'High water' }] } },
    { type: 'OpenResponse', props: { prompt: 'Why?', sampleAnswer: 'Two bulges' } },
    { type: 'Image', props: { src: expect.stringMatching(/^media:/) as string } },
    { type: 'Text', props: { html: 'Read this' } },
  ]);
  const rows = table
    .slice(1)
    .flatMap((row, index) => (row.join('') === '' ? [] : [`${name}:${index + 2} converted`]));
  expect(entries.map(({ path, result }) => `${path} ${result}`)).toEqual(rows);
});

test('a table in a ZIP has pictures beside it', async () => {
  const parts = {
    'quiz.csv': csv([header, ['text', 'Look', '', '', '', '', '', '', 'media/a.png']], ','),
    'media/a.png': 'x',
  };
  const zip = zipBytes(
    Object.entries(parts).map(([name, content]) => ({ name, content: Buffer.from(content) })),
  );
  const { steps, media } = await convertPath(await writeArchive(zip, 'quiz.zip'));
  expect(steps.quiz?.[0]).toMatchObject({ type: 'Image', props: { src: `media:${media[0]?.id}` } });
});

test('faults of a table come all at once, with their rows', async () => {
  const rows = [
    header,
    ['', 'Which?', 'a', 'b', '', 'C', '', '', ''],
    ['quizz', 'Which?', '', '', '', '', '', '', ''],
    ['number', 'How?', '', '', '', 'many', '', '', ''],
    ['open', '', 'x', '', '', '', '', '', ''],
    ['open', 'Why?', '', '', '', '', '', 'ten', ''],
    ['text', 'Look', '', '', '', '', '', '', 'a.png'],
  ];
  expect((await messageOfFailure(convertFile('quiz.csv', csv(rows, ',')))).split('\n')).toEqual([
    'quiz.csv:2: right is "C", and there are 2 choices',
    'quiz.csv:3: type must be one of multiple choice, true/false, short answer, number, matching, ordering, open, text, not "quizz"',
    'quiz.csv:4: right must be a number such as 12.4 or 12.4 ± 0.1, not "many"',
    'quiz.csv:5: has no question',
    'quiz.csv:6: points must be a number from 0, not "ten"',
    'quiz.csv:7: a.png is not beside the table: import a ZIP that has both',
  ]);
});

test('letters and numbers name the columns of choices, also behind an empty one', async () => {
  const row = (right: string) => ['multiple choice', right, 'X', '', 'Z', right, '', '', ''];
  const { steps } = await convertFile('quiz.csv', csv([header, row('C'), row('3'), row('A')], ','));
  const blocks = Object.values(steps).flat();
  expect(blocks.map(({ props }) => props.correct)).toEqual([['b'], ['b'], ['a']]);
});

test('a number whose comma may divide thousands, and a letter of an empty choice, are faults', async () => {
  const rows = [header, ['number', 'How many?', '', '', '', '1,000', '', '', '']];
  expect(await messageOfFailure(convertFile('quiz.csv', csv(rows, ';')))).toContain(
    'quiz.csv:2: right must be a number with a point, such as 1000 or 1.234, not "1,000"',
  );
  const gap = [header, ['multiple choice', 'Which?', 'X', '', 'Z', 'B', '', '', '']];
  expect(await messageOfFailure(convertFile('quiz.csv', csv(gap, ',')))).toContain('right is "B"');
});

test('a quotation mark in the first line keeps no other format out', async () => {
  const { entries } = await convertFile('quiz.txt', '"Which tide\nis it?"\nA. Spring\nB. Neap\nANSWER: A\n');
  expect(entries).toHaveLength(1);
});

test('the templates are the table of the page, have every type of row, and are imported without loss', async () => {
  const page = await readFile('docs/import/spreadsheet.md', 'utf8');
  expect(page).toContain(csvTemplate().replace('\uFEFF', '').replaceAll('\r\n', '\n'));
  const fault = await messageOfFailure(convertFile('wrong.csv', 'type,question,right\nwrong,Why?,'));
  const known = /must be one of (.*), not/.exec(fault)?.[1]?.split(', ');
  for (const [name, content] of [
    ['questions.csv', csvTemplate()],
    ['questions.xlsx', xlsxTemplate()],
  ] as const) {
    const { entries } = await convertFile(name, content);
    expect(entries.map(({ kind }) => kind)).toEqual(known);
    expect(entries.map(({ result }) => result)).toEqual(entries.map(() => 'converted'));
  }
});
