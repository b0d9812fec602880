import type { Element, Root as HastRoot, RootContent as HastContent } from 'hast';
import { toHtml } from 'hast-util-to-html';
import type { Definition, FootnoteDefinition, Nodes, PhrasingContent, Root, RootContent } from 'mdast';
import { toHast } from 'mdast-util-to-hast';
import type { State } from 'mdast-util-to-hast';

/** What texts of a file share. */
export interface RenderContext {
  source: string;
  /** Definitions of links and footnotes, which may be anywhere in the file. */
  definitions: readonly (Definition | FootnoteDefinition)[];
}

/** Renders blocks of Markdown as HTML. HTML in the text stays as it is: players sanitize it. */
export function renderBlocks(nodes: readonly RootContent[], context: RenderContext): string {
  const root: Root = { type: 'root', children: [...nodes, ...context.definitions] };
  const tree = toHast(root, {
    allowDangerousHtml: true,
    clobberPrefix: '',
    footnoteLabel: ' ',
    footnoteBackLabel: '↩',
    handlers: {
      inlineMath: (_state: State, node: Nodes) => ({ type: 'text', value: sourceOf(node, context) }),
      math: (_state: State, node: { value: string }) => paragraph(`$$${node.value}$$`),
      text: (_state: State, node: Nodes & { value: string }) => ({
        type: 'text',
        value: escapesDollars(node, context) ? node.value.replaceAll('$', '\\$') : node.value,
      }),
    },
  });
  return toHtml(withoutLineBreaks(tree as HastRoot), {
    allowDangerousHtml: true,
    characterReferences: { useNamedReferences: true },
  });
}

/** Renders text without its paragraph. */
export function renderInline(children: readonly PhrasingContent[], context: RenderContext): string {
  const html = renderBlocks([{ type: 'paragraph', children: [...children] }], context);
  return html.replace(/^<p>/, '').replace(/<\/p>$/, '');
}

function paragraph(value: string): Element {
  return { type: 'element', tagName: 'p', properties: {}, children: [{ type: 'text', value }] };
}

function sourceOf({ position }: Nodes, { source }: RenderContext): string {
  return source.slice(position?.start.offset, position?.end.offset);
}

/** A dollar sign would begin a formula at import, unless the author escaped it. */
function escapesDollars(node: Nodes & { value: string }, context: RenderContext): boolean {
  return node.value.includes('$') && sourceOf(node, context).includes('\\$');
}

const blockTags = new Set(
  (
    'address article aside blockquote dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr ' +
    'li ol p pre section table tbody td tfoot th thead tr ul video audio'
  ).split(' '),
);
const containerTags = new Set('root blockquote div dl ol section table tbody tfoot thead tr ul'.split(' '));

/** Removes the line breaks that stand between blocks, and the label of footnotes, which would be in English. */
function withoutLineBreaks<T extends HastRoot | Element>(node: T): T {
  const name = node.type === 'root' ? 'root' : node.tagName;
  const children = node.children as HastContent[];
  const kept = children
    .filter((child, index) => !isBetweenBlocks(children, index, name) && !isFootnoteLabel(child))
    .map((child) => (child.type === 'element' ? withoutLineBreaks(child) : child));
  if (node.type === 'element') Reflect.deleteProperty(node.properties, 'ariaDescribedBy');
  return { ...node, children: kept };
}

function isBetweenBlocks(siblings: readonly HastContent[], index: number, parent: string): boolean {
  const child = siblings[index];
  if (child?.type !== 'text' || child.value !== '\n') return false;
  if (containerTags.has(parent)) return true;
  const isBlock = (node: HastContent | undefined) =>
    node === undefined || (node.type === 'element' && blockTags.has(node.tagName));
  return parent === 'li' && (isBlock(siblings[index - 1]) || isBlock(siblings[index + 1]));
}

function isFootnoteLabel(node: HastContent): boolean {
  return node.type === 'element' && node.properties.id === 'footnote-label';
}
