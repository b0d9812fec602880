import type { CoreWidgetType } from '../../lessons/core-widgets.ts';
import { isRecord, listOf, recordOf } from '../../lessons/json-values.ts';
import { textOf } from '../../lessons/scoring/scoring.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { fieldsOf } from './attributes.ts';
import { directiveName } from './directives.ts';
import { escapeMarkdown } from './html-to-markdown.ts';

/** Ids that import makes of texts, which Markdown need not have. */
export const generatedId = /-[0-9a-f]{10}(?:-\d+)?$/;

export interface FormTools {
  /** Returns HTML as Markdown. */
  toText: (html: string) => string;
  /** Writes nested blocks; null if one cannot be written. */
  writeBlocks: (blocks: readonly ConvertedBlock[]) => string | null;
}

/** A form of a block, and the props that it has expressed. */
interface Form {
  text: string;
  used: readonly string[];
}

/** Returns ways to write a core widget, the nicest first. Not each reads back as the same block. */
export function blockForms(block: ConvertedBlock, tools: FormTools): string[] {
  const forms = formsOf(block, tools);
  return forms.map(({ text, used }) => {
    const rest = attributes(block, tools, used);
    return [text, rest.text, ...rest.parts].filter((part) => part !== '').join('\n\n');
  });
}

type WriteForms = (props: Record<string, unknown>, tools: FormTools) => Form[];

/** The widgets that are no questions and have a form of their own; the others are directives with attributes. */
const ownForms: Partial<Record<CoreWidgetType, WriteForms>> = {
  Text: ({ html }, { toText }) => [{ text: toText(textOf(html)), used: ['html'] }],
  Heading: ({ text, level = 2 }) => [
    { text: `${'#'.repeat(Number(level) + 1)} ${line(textOf(text))}`, used: ['text', 'level'] },
  ],
  Image: (props, tools) => [
    { text: picture(props, inlineOf(textOf(props.caption), tools)), used: ['src', 'alt', 'caption'] },
    { text: picture(props, ''), used: ['src', 'alt'] },
  ],
  Quote: ({ html }, { toText }) => [{ text: quoted(toText(textOf(html))), used: ['html'] }],
  Divider: () => [{ text: '---', used: [] }],
  Code: ({ code, language }) => [
    { text: fenced(textOf(code), textOf(language)), used: ['code', 'language'] },
  ],
  Math: ({ latex }) => [{ text: `$$\n${textOf(latex)}\n$$`, used: ['latex'] }],
  Callout: callout,
  Columns: ({ columns }, tools) =>
    nested(
      'columns',
      listOf(columns).map((blocks) => ({ head: 'column', blocks })),
      ['columns'],
      tools,
    ),
  Tabs: ({ tabs }, tools) =>
    nested(
      'tabs',
      listOf(tabs).map((tab) => ({ head: `tab[${label(tab)}]`, blocks: recordOf(tab).body })),
      ['tabs'],
      tools,
    ),
  Accordion: ({ panels }, tools) => {
    const parts = listOf(panels).map((panel) => {
      const { open, body } = recordOf(panel);
      return { head: `panel[${label(panel)}]${open === true ? '{open}' : ''}`, blocks: body };
    });
    return nested('accordion', parts, ['panels'], tools);
  },
};

function formsOf({ type, props }: ConvertedBlock, tools: FormTools): Form[] {
  const write = ownForms[type as CoreWidgetType];
  return write === undefined ? questionForms({ type, props }, tools) : write(props, tools);
}

function questionForms({ type, props }: ConvertedBlock, tools: FormTools): Form[] {
  const name = directiveName(type);
  const prompt = textOf(props.prompt);
  const inside = (body: string, used: string[]): Form => ({
    text: directive(
      name,
      '',
      [prompt === '' ? '' : tools.toText(prompt), body].filter((part) => part !== '').join('\n\n'),
    ),
    used: ['prompt', ...used],
  });
  // A prompt in one line is a heading above the question.
  const short = /^<p>((?:(?!<\/?p>).)*)<\/p>$/s.exec(prompt)?.[1];
  const above = short === undefined ? null : `### ${inlineOf(short, tools)}`;
  const withPrompt = (body: string, used: string[], isList = false): Form[] => [
    ...(above === null
      ? []
      : [{ text: `${above}\n\n${isList ? body : directive(name, '', body)}`, used: ['prompt', ...used] }]),
    ...(prompt === '' && isList ? [{ text: body, used }] : []),
    inside(body, used),
  ];
  if (type === 'MultipleChoice') return withPrompt(choiceList(props, tools), ['choices', 'correct'], true);
  if (type === 'Ordering') return withPrompt(itemList(props, tools), ['items']);
  if (type === 'Matching') return withPrompt(pairRows(props, tools), ['pairs', 'distractors']);
  if (type === 'Flashcards') return [{ text: directive(name, '', cardRows(props, tools)), used: ['cards'] }];
  if (type === 'FillInTheBlanks') {
    const body = gapText(props, tools);
    const heading =
      above === null ? [] : [{ text: `${above}\n\n${body}`, used: ['prompt', 'text', 'blanks'] }];
    const bare = prompt === '' ? [{ text: body, used: ['text', 'blanks'] }] : [];
    const whole = [above ?? '', directive(name, '', body)].filter((part) => part !== '').join('\n\n');
    return [
      ...heading,
      ...bare,
      { text: whole, used: above === null ? ['text', 'blanks'] : ['prompt', 'text', 'blanks'] },
    ];
  }
  if (type === 'TrueFalse' || type === 'Numeric' || type === 'OpenResponse') {
    return [inside('', [])];
  }
  const { text, parts } = attributes({ type, props }, tools, []);
  return [{ text: [`::${name}${text}`, ...parts].join('\n\n'), used: Object.keys(props) }];
}

const partNames: Record<string, string> = {
  ...{ prompt: 'prompt', explanation: 'explanation', hint: 'hint', caption: 'caption' },
  ...{ transcript: 'transcript', sampleAnswer: 'sample-answer', source: 'source' },
};

/** Returns the props that a form leaves out: attributes as `{#id points=2}`, and longer texts as directives. */
function attributes(
  { type, props }: ConvertedBlock,
  tools: FormTools,
  used: readonly string[],
): { text: string; parts: string[] } {
  const fields = fieldsOf(type);
  const written: string[] = [];
  const parts: string[] = [];
  for (const [name, value] of Object.entries(props)) {
    if (used.includes(name) || value === undefined) continue;
    if (name === 'id') {
      if (typeof value === 'string' && !generatedId.test(value)) written.unshift(idAttribute(value));
    } else if (fields[name]?.kind === 'html' && typeof value === 'string') {
      if (isBlockHtml(value)) parts.push(directive(partNames[name] ?? name, '', tools.toText(value)));
      else written.push(`${name}=${quotedValue(inlineOf(value, tools))}`);
    } else if (name === 'feedback' && isRecord(value)) {
      for (const [which, html] of Object.entries(value))
        parts.push(directive(which, '', tools.toText(textOf(html))));
    } else written.push(attribute(name, value));
  }
  return { text: written.length === 0 ? '' : `{${written.join(' ')}}`, parts };
}

/** Returns whether HTML begins with a block, so that it cannot be an attribute. */
function isBlockHtml(html: string): boolean {
  return /^\s*<(?:p|ul|ol|h\d|div|table|blockquote|pre)[\s>]/.test(html);
}

function attribute(name: string, value: unknown): string {
  if (value === true) return name;
  if (typeof value === 'string') return `${name}=${/^[\w./:%-]+$/.test(value) ? value : quotedValue(value)}`;
  if (typeof value === 'object') return `${name}=${quotedValue(JSON.stringify(value))}`;
  return `${name}=${JSON.stringify(value)}`;
}

function quotedValue(text: string): string {
  // A tag would divide the text around the attribute.
  return `"${text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')}"`;
}

function idAttribute(id: string): string {
  return /^[\w-]+$/.test(id) ? `#${id}` : `id=${quotedValue(id)}`;
}

/** A directive whose fence is longer than those inside. */
function directive(name: string, after: string, body: string): string {
  const longest = Math.max(2, ...[...body.matchAll(/^[> ]*(:{3,})/gm)].map(([, fence = '']) => fence.length));
  const fence = ':'.repeat(longest + 1);
  return [`${fence}${name}${after}`, ...(body === '' ? [] : [body]), fence].join('\n');
}

function nested(
  name: string,
  parts: readonly { head: string; blocks: unknown }[],
  used: string[],
  tools: FormTools,
): Form[] {
  const bodies = parts.map(({ head, blocks }) => {
    const body = tools.writeBlocks(listOf(blocks) as ConvertedBlock[]);
    return body === null ? null : directive(head, '', body);
  });
  if (bodies.includes(null)) return [];
  return [{ text: directive(name, '', bodies.join('\n\n')), used }];
}

function callout({ kind, title, body }: Record<string, unknown>, tools: FormTools): Form[] {
  const written = tools.writeBlocks(listOf(body) as ConvertedBlock[]);
  if (written === null) return [];
  const head = `[!${textOf(kind).toUpperCase()}]${textOf(title) === '' ? '' : ` ${line(textOf(title))}`}`;
  const named = textOf(title) === '' ? '' : `[${line(textOf(title))}]`;
  return [
    ...(typeof kind === 'string'
      ? [{ text: quoted(`${head}\n\n${written}`), used: ['kind', 'title', 'body'] }]
      : []),
    { text: directive('callout', named, written), used: ['title', 'body'] },
  ];
}

function label(part: unknown): string {
  return line(textOf(recordOf(part).title));
}

/** Returns plain text in a line, in which braces at the end are no attributes. */
function line(text: string): string {
  return escapeMarkdown(text)
    .replaceAll('\n', ' ')
    .replace(/\{(?=[^{}]*\}\s*$)/, '\\{');
}

/** Returns HTML as Markdown of one line. */
function inlineOf(html: string, tools: FormTools): string {
  return tools.toText(html).replaceAll('\n', ' ');
}

function picture({ src, alt }: Record<string, unknown>, caption: string): string {
  const title = caption === '' ? '' : ` "${caption.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const url = /[\s()<>]/.test(textOf(src)) ? `<${textOf(src)}>` : textOf(src);
  return `![${line(textOf(alt)).replaceAll(/[[\]]/g, '\\$&')}](${url}${title})`;
}

function fenced(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([fence]) => fence.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

function quoted(text: string): string {
  return text.replaceAll(/^/gm, '> ').replaceAll(/^> $/gm, '>');
}

function choiceList({ choices, correct }: Record<string, unknown>, tools: FormTools): string {
  const right = listOf(correct);
  return listOf(choices)
    .map((choice) => {
      const { id, html, feedback, ...others } = recordOf(choice);
      const mark = right.includes(id) || right.includes(html) ? 'x' : ' ';
      const after = partAttributes({ id, ...others }, tools);
      const note =
        typeof feedback === 'string' ? `\n${quoted(tools.toText(feedback)).replaceAll(/^/gm, '  ')}` : '';
      return `- [${mark}] ${inlineOf(textOf(html), tools)}${after}${note}`;
    })
    .join('\n');
}

function partAttributes({ id, ...texts }: Record<string, unknown>, tools: FormTools): string {
  const written = Object.entries(texts).map(
    ([name, html]) =>
      `${name}=${quotedValue(isBlockHtml(textOf(html)) ? textOf(html) : inlineOf(textOf(html), tools))}`,
  );
  if (typeof id === 'string' && !generatedId.test(id)) written.unshift(idAttribute(id));
  return written.length === 0 ? '' : ` {${written.join(' ')}}`;
}

function itemList({ items }: Record<string, unknown>, tools: FormTools): string {
  return listOf(items)
    .map((item, index) => {
      const { id, html } = recordOf(item);
      return `${index + 1}. ${inlineOf(textOf(html), tools)}${partAttributes({ id }, tools)}`;
    })
    .join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll(/(?<!\\)\|/g, '\\|')).join(' | ')} |`;
}

function pairRows({ pairs, distractors }: Record<string, unknown>, tools: FormTools): string {
  const rows = listOf(pairs).map((pair) => {
    const { id, left, right } = recordOf(pair);
    return row([
      `${inlineOf(textOf(left), tools)}${partAttributes({ id }, tools)}`,
      inlineOf(textOf(right), tools),
    ]);
  });
  const others = listOf(distractors).map((one) => {
    const { id, html } = recordOf(one);
    return row([partAttributes({ id }, tools).trim(), inlineOf(textOf(html), tools)]);
  });
  return [...rows, ...others].join('\n');
}

function cardRows({ cards }: Record<string, unknown>, tools: FormTools): string {
  return listOf(cards)
    .map((card) => {
      const { front, back, hint, backHint } = recordOf(card);
      const cells = [front, back, hint, backHint].map((html) => inlineOf(textOf(html), tools));
      while (cells.length > 2 && cells.at(-1) === '') cells.pop();
      return row(cells);
    })
    .join('\n');
}

/** Stands for a gap while its text becomes Markdown. */
const marker = 'LecternGap';

function gapText({ text, blanks }: Record<string, unknown>, tools: FormTools): string {
  const byId = new Map(listOf(blanks).map((blank) => [recordOf(blank).id, recordOf(blank)]));
  const marked = textOf(text).replaceAll(
    /\[\[([\w-]{1,64})\]\]/g,
    (_, id: string) => `${marker}${Buffer.from(id).toString('hex')}Z`,
  );
  return tools.toText(marked).replaceAll(new RegExp(`${marker}([0-9a-f]+)Z`, 'g'), (_, hex: string) => {
    const id = Buffer.from(hex, 'hex').toString();
    const { answers, hint, feedback } = byId.get(id) ?? {};
    const { right, wrong } = recordOf(feedback);
    const texts = Object.entries({ hint, right, wrong }).filter(([, html]) => typeof html === 'string');
    const after = partAttributes({ id, ...Object.fromEntries(texts) }, tools).trim();
    return `[[${listOf(answers)
      .map((answer) => escapeMarkdown(String(answer)))
      .join('|')}]]${after}`;
  });
}
