/*
 * Writes the tables of props in docs/widgets.md from the fields of the core widgets:
 *   npm run tables             write them
 *   npm run tables -- --check  check only
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { coreWidgetFields, questionFields } from '../shared/lessons/core-widget-fields.ts';
import { coreWidgetTypes } from '../shared/lessons/core-widgets.ts';
import { describeValue } from '../shared/lessons/widget-fields.ts';
import type { Field, Fields } from '../shared/lessons/widget-fields.ts';

const page = fileURLToPath(new URL('widgets.md', import.meta.url));
const options = JSON.parse(readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8')) as Parameters<
  typeof format
>[2];

const tables = {
  'core-widgets': [
    ['Type', 'Props'],
    ...coreWidgetTypes.map((type) => [`\`${type}\``, describeProps(coreWidgetFields[type])]),
  ],
  questions: [
    ['Prop', 'Meaning'],
    ...Object.entries(questionFields).map(([name, field]) => [`\`${name}\``, describe(name, field)]),
  ],
};

function describeProps(fields: Fields): string {
  const names = Object.keys(fields);
  const isQuestion = names.includes('points');
  const own = Object.entries(fields).filter(([name]) => !isQuestion || !Object.hasOwn(questionFields, name));
  const lines = own.map(([name, field]) => {
    const meaning = describe(name, field);
    return `${nameOf(name, field)}${meaning === '' ? '' : `: ${meaning}`}`;
  });
  if (isQuestion) lines.push('[props of questions](#questions)');
  return lines.length === 0 ? 'none' : lines.join('<br>');
}

/** Returns a name as code; a name in bold is of a prop without which the widget makes no sense. */
function nameOf(name: string, { required }: Field): string {
  return required === undefined ? `\`${name}\`` : `**\`${name}\`**`;
}

function describe(name: string, field: Field): string {
  const { kind, label, help, isGenerated } = field;
  if (isGenerated) return 'import writes it';
  // The names of other props say what their labels do.
  const meaning = kind === 'boolean' || kind === 'image' ? `${label[0]?.toLowerCase()}${label.slice(1)}` : '';
  return [valueOf(field), help ?? (meaning === name ? '' : meaning)].filter(Boolean).join('; ');
}

function valueOf(field: Field): string {
  if (field.kind === 'list' || field.kind === 'object') {
    const members = Object.entries(field.fields).map(([name, member]) => {
      const value = valueOf(member);
      return `${nameOf(name, member)}${member.kind === 'html' ? '' : ` (${value})`}`;
    });
    return `${field.kind === 'list' ? 'list of ' : ''}{${members.join(', ')}}`;
  }
  const value = describeValue(field);
  const { default: usual } = field;
  return usual === undefined ? value : [value, `${usual} by default`].filter(Boolean).join(', ');
}

/** Returns the page with current tables between their markers. */
async function withTables(text: string): Promise<string> {
  let current = text;
  for (const [name, rows] of Object.entries(tables)) {
    const [start, end] = [`<!-- ${name}: npm run tables -->`, '<!-- end -->'];
    const from = current.indexOf(start);
    const to = current.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`docs/widgets.md lacks the markers ${start} and ${end}`);
    const [head = [], ...body] = rows;
    const lines = [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);
    current = `${current.slice(0, from + start.length)}\n\n${lines.join('\n')}\n\n${current.slice(to)}`;
  }
  return (await format('widgets.md', current, options)).code;
}

const written = readFileSync(page, 'utf8');
const current = await withTables(written);
if (!process.argv.includes('--check')) writeFileSync(page, current);
else if (current !== written) {
  process.stderr.write('The tables in docs/widgets.md differ from the fields: run `npm run tables`\n');
  process.exitCode = 1;
}
