import type { Mark, Node } from 'prosemirror-model';
import type { Attributes, HtmlElement, HtmlNode } from './html-tree.ts';
import { isElement, writeHtml } from './html-tree.ts';
import { schema } from './schema.ts';

const { nodes } = schema;

/** HTML that is written as it is. */
interface Verbatim {
  readonly html: string;
}

type Written = HtmlNode | Verbatim;

/** Writes a document as HTML; '' for an empty one. */
export function writeDocument(doc: Node): string {
  return writeNodes(childrenOf(doc));
}

/** Writes blocks or a part of a text as HTML. */
export function writeNodes(content: readonly Node[]): string {
  const [only] = content;
  const isEmpty = content.length === 1 && only?.isTextblock && only.content.size === 0;
  if (isEmpty && (only.type === nodes.plain || only.type === nodes.paragraph) && isBare(only)) return '';
  return html(content.some(({ isInline }) => isInline) ? writeInline(content) : writeBlocks(content));
}

function isBare({ attrs }: Node): boolean {
  return Object.keys((attrs.attributes ?? {}) as Attributes).length === 0;
}

function childrenOf(node: Node): Node[] {
  return Array.from({ length: node.childCount }, (_, index) => node.child(index));
}

function html(written: readonly Written[]): string {
  return written
    .map((node) => {
      if (typeof node === 'object' && 'html' in node) return node.html;
      if (!isElement(node)) return writeHtml([node]);
      // Only text is escaped: verbatim parts are in elements that this module makes.
      const shell = writeHtml([{ ...node, children: [] }]);
      const end = `</${node.tag}>`;
      if (!shell.endsWith(end)) return shell;
      const content = html(node.children);
      const first = node.tag === 'pre' && content.startsWith('\n') ? '\n' : '';
      return shell.slice(0, -end.length) + first + content + end;
    })
    .join('');
}

function element(tag: string, attributes: unknown, children: readonly Written[]): HtmlElement {
  return { tag, attributes: attributes as Attributes, children: children as HtmlNode[] };
}

function writeBlocks(blocks: readonly Node[]): Written[] {
  return blocks.flatMap((node, index) => {
    if (node.type !== nodes.plain) return [writeBlock(node)];
    // Without paragraphs, the texts would become one.
    const hasNeighbor = [blocks[index - 1], blocks[index + 1]].some((other) => other?.type === nodes.plain);
    const content = writeInline(childrenOf(node));
    return hasNeighbor ? [element('p', {}, content)] : content;
  });
}

function writeBlock(node: Node): Written {
  const { attributes } = node.attrs as { attributes: Attributes };
  const children = childrenOf(node);
  switch (node.type) {
    case nodes.paragraph:
      return element('p', attributes, writeInline(children));
    case nodes.heading:
      return element(`h${node.attrs.level as number}`, attributes, writeInline(children));
    case nodes.blockquote:
      return element('blockquote', attributes, writeBlocks(children));
    case nodes.horizontal_rule:
      return element('hr', attributes, []);
    case nodes.bullet_list:
      return element('ul', attributes, children.map(writeBlock));
    case nodes.ordered_list:
      return element('ol', attributes, children.map(writeBlock));
    case nodes.list_item:
      return element('li', attributes, writeBlocks(children));
    case nodes.container:
      return element(node.attrs.tag as string, attributes, writeBlocks(children));
    case nodes.code_block: {
      const code = node.attrs.code as Attributes | null;
      const text = [node.textContent];
      return element('pre', attributes, code === null ? text : [element('code', code, text)]);
    }
    case nodes.table:
      return element('table', attributes, [{ html: node.attrs.head as string }, ...writeRows(children)]);
    default:
      return { html: node.attrs.html as string };
  }
}

function writeRows(rows: readonly Node[]): Written[] {
  const sections: { name: string; attributes: unknown; rows: Written[] }[] = [];
  for (const row of rows) {
    const last = sections.at(-1);
    // A new row belongs to the rows above it, unless they are the head.
    const own = row.attrs.section as string | null;
    const name = own ?? (last === undefined || last.name.startsWith('thead') ? 'tbody' : last.name);
    const written = element('tr', row.attrs.attributes, childrenOf(row).map(writeCell));
    if (last?.name === name) last.rows.push(written);
    else sections.push({ name, attributes: row.attrs.sectionAttributes, rows: [written] });
  }
  return sections.map(({ name, attributes, rows: written }) =>
    element(name.replace(/ .*/, ''), attributes, written),
  );
}

function writeCell(cell: Node): Written {
  const { attributes, colspan, rowspan } = cell.attrs as {
    attributes: Attributes;
    colspan: number;
    rowspan: number;
  };
  const spans = {
    ...(colspan > 1 && { colspan: String(colspan) }),
    ...(rowspan > 1 && { rowspan: String(rowspan) }),
  };
  const tag = cell.type === nodes.table_header ? 'th' : 'td';
  return element(tag, { ...attributes, ...spans }, writeBlocks(childrenOf(cell)));
}

interface Marked {
  written: Written;
  marks: readonly Mark[];
}

function writeInline(content: readonly Node[]): Written[] {
  return nest(content.map((node) => ({ written: writeLeaf(node), marks: node.marks })));
}

/** Nests formatting: outside is what lasts longest. */
function nest(leaves: readonly Marked[]): Written[] {
  const result: Written[] = [];
  for (let start = 0; start < leaves.length;) {
    const { written, marks } = leaves[start] as Marked;
    const runs = marks.map((mark) => ({ mark, end: endOfRun(leaves, start, mark) }));
    const [first] = runs.toSorted((a, b) => b.end - a.end);
    if (first === undefined) {
      result.push(written);
      start += 1;
      continue;
    }
    const { mark, end } = first;
    const inner = leaves
      .slice(start, end)
      .map((leaf) => ({ ...leaf, marks: leaf.marks.filter((other) => !other.eq(mark)) }));
    result.push(element(mark.attrs.tag as string, mark.attrs.attributes, nest(inner)));
    start = end;
  }
  return result;
}

function endOfRun(leaves: readonly Marked[], start: number, mark: Mark): number {
  let end = start;
  while (end < leaves.length && leaves[end]?.marks.some((other) => other.eq(mark))) end += 1;
  return end;
}

function writeLeaf(node: Node): Written {
  switch (node.type) {
    case nodes.text:
      // Text without tags is shown in paragraphs at its line breaks.
      return (node.text ?? '').replaceAll('\n', ' ');
    case nodes.image:
      return element('img', node.attrs.attributes, []);
    case nodes.hard_break:
      return element('br', node.attrs.attributes, []);
    case nodes.formula: {
      const { tex, display, html: mathml } = node.attrs as { tex: string; display: boolean; html: string };
      if (mathml !== '') return { html: mathml };
      return display ? `\\[${tex}\\]` : `\\(${tex}\\)`;
    }
    default:
      return { html: node.attrs.html as string };
  }
}
