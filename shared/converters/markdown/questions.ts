import { createHash } from 'node:crypto';
import type { List, ListItem, Nodes, Paragraph, PhrasingContent, RootContent, Table, Text } from 'mdast';
import type { ContainerDirective } from 'mdast-util-directive';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { camelCase, unknownAttribute } from './attributes.ts';
import { parseAttributes, parseMarkdown, splitAttributes } from './parse.ts';
import type { Attributes } from './parse.ts';
import { renderInline } from './render.ts';
import type { TextFile } from './text-file.ts';

/** Returns whether a list is a question: each item begins with `[ ]` or `[x]`. */
export function isChoiceList(node: RootContent): node is List {
  return node.type === 'list' && node.children.some(({ checked }) => typeof checked === 'boolean');
}

export function multipleChoice(list: List, file: TextFile): ConvertedBlock {
  for (const item of list.children) {
    if (typeof item.checked !== 'boolean') file.fault(item, 'each choice needs [x] or [ ] before it');
  }
  const read = list.children.map((item) => ({
    isRight: item.checked === true,
    choice: partOf(item, 'a choice', ['id', 'feedback', 'notChosenFeedback', 'hint'], file),
  }));
  const texts = read.map(({ choice }) => choice.html);
  // Equal texts cannot say which of them is right.
  const isAmbiguous = new Set(texts).size < texts.length;
  const choices = read.map(({ choice }, index) =>
    isAmbiguous ? { ...choice, id: choice.id ?? String(index + 1) } : choice,
  );
  const correct = choices
    .filter((_, index) => read[index]?.isRight)
    .map(({ id, html }) => (typeof id === 'string' ? id : html));
  return { type: 'MultipleChoice', props: { choices, correct } };
}

/** Reads an item: its text, attributes at the end of its first line, and feedback in a quotation. */
function partOf(
  item: ListItem,
  what: string,
  known: readonly string[],
  file: TextFile,
): Record<string, unknown> & { html: string } {
  const [first, ...rest] = item.children;
  const { children, attributes } = first?.type === 'paragraph' ? splitInline(first) : noAttributes;
  const feedback = rest.filter((node) => node.type === 'blockquote').flatMap((node) => node.children);
  const others = rest.filter((node) => node.type !== 'blockquote');
  const html =
    first?.type === 'paragraph' && others.length === 0
      ? file.inline(children, item)
      : file.html(
          [
            ...(first?.type === 'paragraph' ? [{ ...first, children }] : item.children.slice(0, 1)),
            ...others,
          ],
          item,
        );
  return {
    ...partProps(attributes, what, known, file, item),
    html,
    ...(feedback.length > 0 && { feedback: compact(feedback, file, item) }),
  };
}

const noAttributes = { children: [], attributes: null };

/** Renders blocks; a single paragraph without its tags. */
function compact(nodes: readonly RootContent[], file: TextFile, at: Nodes): string {
  const [only, ...others] = nodes;
  return only?.type === 'paragraph' && others.length === 0
    ? file.inline(only.children, at)
    : file.html(nodes, at);
}

/** Divides a paragraph at the attributes at its end. */
export function splitInline({ children }: Pick<Paragraph, 'children'>): {
  children: PhrasingContent[];
  attributes: Attributes | null;
} {
  const last = children.at(-1);
  if (last?.type !== 'text') return { children, attributes: null };
  const { text, attributes } = splitAttributes(last.value);
  if (attributes === null) return { children, attributes };
  const before = children.slice(0, -1);
  return { children: text === '' ? before : [...before, { ...last, value: text }], attributes };
}

/** Returns the props of a part of a question: its id, and texts that are HTML. */
function partProps(
  attributes: Attributes | null,
  what: string,
  known: readonly string[],
  file: TextFile,
  at: Nodes,
): Record<string, unknown> {
  const { toHtml, fault } = file.attributesAt(at);
  const props: Record<string, unknown> = {};
  for (const [written, value] of Object.entries(attributes ?? {})) {
    const name = camelCase(written);
    if (!known.includes(name)) fault(unknownAttribute(written, what, known));
    else props[name] = name === 'id' ? value : toHtml(value);
  }
  return props;
}

export function ordering(list: List, file: TextFile): ConvertedBlock {
  const items = list.children.map((item) => partOf(item, 'an item', ['id'], file));
  return { type: 'Ordering', props: { items } };
}

/** A row of a table, with the attributes at the end of its first cell. */
interface Row {
  cells: string[];
  attributes: Attributes | null;
}

/** Returns the rows of tables, which may lack the line `|---|`; with it, the row above is a header. */
export function tableRows(nodes: readonly RootContent[], file: TextFile): Row[] | null {
  const [node, ...others] = nodes;
  if (node === undefined || others.length > 0) return null;
  if (node.type === 'table') return rowsOf(node, (children) => file.inline(children, node));
  const source = node.type === 'paragraph' ? file.sourceOf(node) : '';
  if (!source.startsWith('|')) return null;
  const columns = Math.max(...source.split('\n').map((line) => line.split(/(?<!\\)\|/).length));
  const header = `|${' |'.repeat(columns)}\n|${'-|'.repeat(columns)}\n`;
  const parsed = parseMarkdown(`${header}${source}`, 'table');
  const [table] = parsed.root.children;
  if (table?.type !== 'table') return null;
  const context = { source: parsed.source, definitions: [] };
  return rowsOf(table, (children) => file.linked(renderInline(children, context), node)).map((row) => ({
    ...row,
    cells: row.cells.slice(0, columns),
  }));
}

function rowsOf(table: Table, render: (children: PhrasingContent[]) => string): Row[] {
  return table.children.slice(1).map(({ children: [first, ...rest] }) => {
    const { children, attributes } = splitInline({ children: first?.children ?? [] });
    return { cells: [render(children), ...rest.map((cell) => render(cell.children))], attributes };
  });
}

export function matching(rows: readonly Row[], file: TextFile, at: Nodes): ConvertedBlock {
  const pairs: Record<string, unknown>[] = [];
  const distractors: Record<string, unknown>[] = [];
  for (const { cells, attributes } of rows) {
    const [left = '', right = ''] = cells;
    const props = partProps(attributes, 'a pair', ['id'], file, at);
    if (left === '') distractors.push({ ...props, html: right });
    else pairs.push({ ...props, left, right });
  }
  return { type: 'Matching', props: { pairs, ...(distractors.length > 0 && { distractors }) } };
}

export function flashcards(rows: readonly Row[]): ConvertedBlock {
  const cards = rows.map(({ cells: [front = '', back = '', hint = '', backHint = ''] }) => ({
    ...{ front, back },
    ...(hint !== '' && { hint }),
    ...(backHint !== '' && { backHint }),
  }));
  return { type: 'Flashcards', props: { cards } };
}

/** A gap: `[[answer|other answer]]`, or `[[=12.4 ±0.1 h]]` for a number, with attributes after it. */
const gap = /\[\[([^[\]\n]+)\]\](\{[^{}\n]*\})?/g;

/** Returns whether a text has a gap that its author did not escape. */
export function hasGap(node: RootContent, file: TextFile): boolean {
  return node.type === 'paragraph' && textsOf(node).some((text) => gapsIn(text, file).length > 0);
}

function textsOf(paragraph: Nodes): Text[] {
  if (paragraph.type === 'text') return [paragraph];
  return 'children' in paragraph ? paragraph.children.flatMap(textsOf) : [];
}

function gapsIn(text: Text, file: TextFile): RegExpExecArray[] {
  const source = file.sourceOf(text);
  const found = [...text.value.matchAll(gap)];
  if (!source.includes('\\[')) return found;
  // In the source, escaped brackets come in the same order.
  const written = [...source.matchAll(/\\?\[\\?\[[^[\]\n]+\\?\]\\?\]/g)];
  return found.filter((_, index) => !written[index]?.[0].startsWith('\\'));
}

const number =
  /^=\s*([-+\u2212]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)\s*(?:(?:±|\+-|\+\/-)\s*(\d+(?:[.,]\d+)?\s*%?))?\s*(.*)$/i;

/** Returns the question in paragraphs with gaps. */
export function gapQuestion(nodes: readonly RootContent[], file: TextFile, at: Nodes): ConvertedBlock {
  const gaps = nodes.flatMap((node) => textsOf(node).flatMap((text) => gapsIn(text, file)));
  const [only] = gaps;
  if (gaps.length === 1 && only?.[1]?.startsWith('=')) return numericGap(nodes, only[1], file, at);
  const blanks: Record<string, unknown>[] = [];
  const taken = new Set<string>();
  const replaced = nodes.map((node) =>
    replaceGaps(node, file, (answers, attributes) => {
      const { right, wrong, ...props } = partProps(
        attributes,
        'a gap',
        ['id', 'hint', 'right', 'wrong'],
        file,
        at,
      );
      const accepted = answers.startsWith('=')
        ? numberTexts(answers, file, at)
        : answers.split('|').map((answer) => answer.trim());
      const id = typeof props.id === 'string' ? props.id : blankId(accepted[0] ?? '', taken);
      taken.add(id);
      const feedback = { ...(right !== undefined && { right }), ...(wrong !== undefined && { wrong }) };
      blanks.push({ ...props, id, answers: accepted, ...(Object.keys(feedback).length > 0 && { feedback }) });
      return `[[${id}]]`;
    }),
  );
  return { type: 'FillInTheBlanks', props: { text: file.html(replaced, at), blanks } };
}

/** A gap among others accepts texts: the number, with and without its unit. */
function numberTexts(written: string, file: TextFile, at: Nodes): string[] {
  const [, value = '', tolerance, unit = ''] = readNumber(written, file, at);
  if (tolerance !== undefined) file.lose(at, `a gap among others accepts no ±${tolerance.trim()}`);
  return unit === '' ? [value] : [value, `${value} ${unit}`];
}

function readNumber(written: string, file: TextFile, at: Nodes): readonly (string | undefined)[] {
  const found = number.exec(written);
  if (found === null) file.fault(at, `[[${written}]] must have a number, such as [[=12.4 ±0.1 h]]`);
  return found ?? [];
}

function numericGap(
  nodes: readonly RootContent[],
  written: string,
  file: TextFile,
  at: Nodes,
): ConvertedBlock {
  const toNumber = (text = '') => Number(text.replace(',', '.').replace('\u2212', '-'));
  const [, value = '0', tolerance, unit = ''] = readNumber(written, file, at);
  const prompt = file.html(
    nodes.map((node) => replaceGaps(node, file, () => '_____')),
    at,
  );
  const props = {
    ...{ prompt, correct: toNumber(value) },
    ...(tolerance !== undefined && {
      tolerance: tolerance.endsWith('%') ? tolerance.replaceAll(/\s/g, '') : toNumber(tolerance),
    }),
    ...(unit !== '' && { unit }),
  };
  return { type: 'Numeric', props };
}

function replaceGaps<T extends Nodes>(
  node: T,
  file: TextFile,
  replace: (answers: string, attributes: Attributes | null) => string,
): T {
  if (node.type === 'text') {
    const gaps = new Set(gapsIn(node, file).map(({ index }) => index));
    const value = node.value.replaceAll(gap, (whole: string, answers: string, ...rest: unknown[]) => {
      const attributes = typeof rest[0] === 'string' ? rest[0] : undefined;
      const index = rest.find((one) => typeof one === 'number');
      if (!gaps.has(index ?? -1)) return whole;
      return replace(answers, attributes === undefined ? null : parseAttributes(attributes));
    });
    return { ...node, value };
  }
  if (!('children' in node)) return node;
  return { ...node, children: node.children.map((child) => replaceGaps(child, file, replace)) };
}

/** Returns an id that follows from the answer, so that it stays when other gaps come or go. */
function blankId(answer: string, taken: ReadonlySet<string>): string {
  const word = answer
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  const base = word !== '' ? word : `gap-${createHash('sha256').update(answer).digest('hex').slice(0, 8)}`;
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? base : `${base}-${count}`;
    if (!taken.has(id)) return id;
  }
}

/** The label of a directive, such as `[By hand]`, and its other children. */
export function labelOf({ children }: ContainerDirective): { label: Paragraph | null; body: RootContent[] } {
  const [first, ...rest] = children;
  const hasLabel = first?.type === 'paragraph' && first.data?.directiveLabel === true;
  return hasLabel ? { label: first, body: rest } : { label: null, body: children };
}
