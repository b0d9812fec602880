import { Fragment } from 'prosemirror-model';
import type { Mark, Node } from 'prosemirror-model';
import { containerTags, isBlockTag, isMark, markTags } from './elements.ts';
import type { Attributes, HtmlElement, HtmlNode } from './html-tree.ts';
import { isElement, writeHtml } from './html-tree.ts';
import { collapsible } from './meaning.ts';
import { schema } from './schema.ts';

const { nodes, marks } = schema;

/** A table with cells that span more opens as HTML only: each cell that it covers takes memory. */
const maxSpan = 100;

/** TeX between the delimiters that cannot be an amount of money. */
const tex = /\\\(([^]+?)\\\)|\\\[([^]+?)\\\]/g;

/** Reads the HTML of a field. What the schema lacks becomes an atom with its HTML. */
export function readDocument(tree: readonly HtmlNode[]): Node {
  return nodes.doc.create(null, readBlocks(tree));
}

/** Reads blocks, and text between them; at least one. */
export function readBlocks(tree: readonly HtmlNode[]): Node[] {
  const blocks: Node[] = [];
  let line: HtmlNode[] = [];
  const endLine = () => {
    const content = readInline(line);
    if (content.length > 0) blocks.push(nodes.plain.create(null, content));
    line = [];
  };
  for (const node of tree) {
    if (!isElement(node) || (!isBlockTag(node.tag) && !holdsBlock(node))) {
      line.push(node);
      continue;
    }
    endLine();
    blocks.push(readBlock(node) ?? unknown(node, true));
  }
  endLine();
  return blocks.length > 0 ? blocks : [nodes.plain.create()];
}

/** Returns whether an element of a text has blocks in it, so that it cannot be formatting. */
function holdsBlock(node: HtmlElement): boolean {
  return markTags.has(node.tag) && !isMark(node) && node.children.some((child) => isElement(child));
}

function unknown(node: HtmlNode, isBlock = false): Node {
  const label = isElement(node) ? `<${node.tag}>` : '<!-- -->';
  return (isBlock ? nodes.html : nodes.html_inline).create({ html: writeHtml([node]), label });
}

/** Returns null for an element that the schema cannot hold. */
function readBlock({ tag, attributes, children }: HtmlElement): Node | null {
  if (containerTags.has(tag)) return nodes.container.create({ attributes, tag }, readBlocks(children));
  switch (tag) {
    case 'p':
      return readTextBlock(children, (content) => nodes.paragraph.create({ attributes }, content));
    case 'blockquote':
      return nodes.blockquote.create({ attributes }, readBlocks(children));
    case 'hr':
      return nodes.horizontal_rule.create({ attributes });
    case 'ul':
    case 'ol':
      return readList(tag, attributes, children);
    case 'pre':
      return readCode(attributes, children);
    case 'table':
      return readTable(attributes, children);
    default: {
      const level = Number(/^h([1-6])$/.exec(tag)?.[1]);
      if (!level) return null;
      return readTextBlock(children, (content) => nodes.heading.create({ attributes, level }, content));
    }
  }
}

function readTextBlock(children: readonly HtmlNode[], create: (content: Node[]) => Node): Node | null {
  const hasBlock = children.some((child) => isElement(child) && (isBlockTag(child.tag) || holdsBlock(child)));
  return hasBlock ? null : create(readInline(children));
}

function readList(tag: 'ul' | 'ol', attributes: Attributes, children: readonly HtmlNode[]): Node | null {
  const items = elementsAmong(children);
  if (items === null || items.length === 0 || items.some((item) => item.tag !== 'li')) return null;
  const content = items.map((item) =>
    nodes.list_item.create({ attributes: item.attributes }, readBlocks(item.children)),
  );
  return (tag === 'ul' ? nodes.bullet_list : nodes.ordered_list).create({ attributes }, content);
}

/** Returns the elements among white space; null if there is anything else. */
function elementsAmong(children: readonly HtmlNode[]): HtmlElement[] | null {
  const elements = children.filter(isElement);
  const isOnlySpace = children.every(
    (child) => isElement(child) || (typeof child === 'string' && child.replaceAll(collapsible, '') === ''),
  );
  return isOnlySpace ? elements : null;
}

function readCode(attributes: Attributes, children: readonly HtmlNode[]): Node | null {
  const [only, ...others] = children;
  const isCode = only !== undefined && isElement(only) && only.tag === 'code' && others.length === 0;
  const texts = isCode ? only.children : children;
  if (!texts.every((text) => typeof text === 'string')) return null;
  const text = texts.join('');
  const content = text === '' ? [] : [schema.text(text)];
  return nodes.code_block.create({ attributes, code: isCode ? only.attributes : null }, content);
}

function readTable(attributes: Attributes, children: readonly HtmlNode[]): Node | null {
  const parts = elementsAmong(children);
  if (parts === null) return null;
  const first = parts.findIndex(({ tag }) => /^(thead|tbody|tfoot)$/.test(tag));
  const head = parts.slice(0, Math.max(0, first));
  const sections = parts.slice(first);
  if (first < 0 || head.some(({ tag }) => tag !== 'caption' && tag !== 'colgroup')) return null;
  const rows: Node[] = [];
  for (const [index, section] of sections.entries()) {
    const read = elementsAmong(section.children)?.map((row) =>
      readRow(row, `${section.tag} ${index}`, section.attributes),
    );
    // Without rows, a section would be lost.
    if (!/^(thead|tbody|tfoot)$/.test(section.tag) || !read?.length || read.includes(null)) return null;
    rows.push(...read.filter((row) => row !== null));
  }
  return nodes.table.create({ attributes, head: writeHtml(head) }, rows);
}

function readRow(
  { tag, attributes, children }: HtmlElement,
  section: string,
  sectionAttributes: Attributes,
): Node | null {
  const cells = tag === 'tr' ? elementsAmong(children) : null;
  if (cells === null) return null;
  const read = cells.map((cell) => {
    const { colspan = '1', rowspan = '1', ...others } = cell.attributes;
    const spans = [colspan, rowspan].map((span) => (/^[1-9]\d*$/.test(span) ? Number(span) : Infinity));
    if (!/^t[dh]$/.test(cell.tag) || spans.some((span) => span > maxSpan)) return null;
    const type = cell.tag === 'th' ? nodes.table_header : nodes.table_cell;
    return type.create(
      { attributes: others, colspan: spans[0], rowspan: spans[1] },
      readBlocks(cell.children),
    );
  });
  if (read.includes(null)) return null;
  return nodes.table_row.create(
    { attributes, section, sectionAttributes },
    Fragment.from(read.filter((cell) => cell !== null)),
  );
}

/** Reads the text of a paragraph, with white space as browsers show it. */
export function readInline(tree: readonly HtmlNode[]): Node[] {
  const found: Node[] = [];
  collectInline(tree, [], found);
  const shown: Node[] = [];
  let isAfterSpace = true;
  for (const [index, node] of found.entries()) {
    if (!node.isText) {
      isAfterSpace = node.type === nodes.hard_break;
      shown.push(node);
      continue;
    }
    let text = (node.text ?? '').replaceAll(collapsible, ' ');
    if (isAfterSpace) text = text.replace(/^ /, '');
    if (text.endsWith(' ') && endsLine(found, index)) text = text.slice(0, -1);
    if (text === '') continue;
    isAfterSpace = text.endsWith(' ');
    shown.push(...withFormulas(text, node.marks));
  }
  return shown;
}

/** Returns whether only white space follows in the line. */
function endsLine(found: readonly Node[], index: number): boolean {
  for (let next = index + 1; next < found.length; next += 1) {
    const node = found[next];
    if (node?.type === nodes.hard_break) return true;
    if (node?.text === undefined || node.text.replaceAll(collapsible, '') !== '') return false;
  }
  return true;
}

function collectInline(tree: readonly HtmlNode[], active: readonly Mark[], found: Node[]): void {
  for (const node of tree) {
    if (typeof node === 'string') {
      if (node !== '') found.push(schema.text(node, active));
    } else if (isElement(node) && isMark(node)) {
      const mark = schema.mark(markTags.get(node.tag) ?? 'inline', {
        attributes: node.attributes,
        tag: node.tag,
      });
      // The same formatting twice, with other attributes.
      if (mark.type !== marks.inline && mark.type.isInSet(active)) found.push(unknown(node).mark(active));
      else collectInline(node.children, mark.addToSet(active), found);
    } else found.push(readLeaf(node).mark(active));
  }
}

function readLeaf(node: HtmlNode): Node {
  if (!isElement(node)) return unknown(node);
  const { tag, attributes } = node;
  if (tag === 'img') return nodes.image.create({ attributes });
  if (tag === 'br') return nodes.hard_break.create({ attributes });
  if (tag !== 'math') return unknown(node);
  const source = attributes['data-tex'] ?? annotationOf(node);
  const display = attributes.display === 'block';
  return nodes.formula.create({ tex: source ?? '', display, html: writeHtml([node]) });
}

/** Returns the TeX in a formula of another program. */
function annotationOf(node: HtmlElement): string | undefined {
  if (node.tag === 'annotation' && node.attributes.encoding === 'application/x-tex')
    return node.children.filter((child) => typeof child === 'string').join('');
  for (const child of node.children) {
    const found = isElement(child) ? annotationOf(child) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function withFormulas(text: string, active: readonly Mark[]): Node[] {
  const isVerbatim = active.some(
    ({ type, attrs }) => type === marks.code || ['kbd', 'samp', 'tt'].includes(attrs.tag as string),
  );
  if (isVerbatim || !text.includes('\\')) return [schema.text(text, active)];
  const parts: Node[] = [];
  let position = 0;
  for (const { index, 0: whole, 1: inline, 2: block } of text.matchAll(tex)) {
    if (index > position) parts.push(schema.text(text.slice(position, index), active));
    position = index + whole.length;
    parts.push(nodes.formula.create({ tex: inline ?? block, display: inline === undefined }).mark(active));
  }
  if (position < text.length) parts.push(schema.text(text.slice(position), active));
  return parts;
}
