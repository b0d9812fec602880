import { DOMParser, DOMSerializer, Fragment, Slice } from 'prosemirror-model';
import type { ParseOptions } from 'prosemirror-model';
import { containerTags, isBlockTag, markTags } from './elements.ts';
import type { Attributes, HtmlElement, HtmlNode } from './html-tree.ts';
import { isElement, templateOf, treeOf, withoutStyles } from './html-tree.ts';
import { readBlocks } from './read-html.ts';
import { schema } from './schema.ts';
import { writeNodes } from './write-html.ts';

/** Marks HTML that this editor has copied: it needs no cleaning. */
const ownMark = 'data-lectern-text';

/** Writes what is copied as it is stored, instead of as the editor shows it. */
class Serializer extends DOMSerializer {
  override serializeFragment(fragment: Fragment): DocumentFragment {
    const content = Array.from({ length: fragment.childCount }, (_, index) => fragment.child(index));
    const template = templateOf(writeNodes(content));
    template.content.firstElementChild?.setAttribute(ownMark, '');
    return template.content;
  }
}

/** Reads what is pasted with the schema: from other programs, without their styles. */
class Parser extends DOMParser {
  override parseSlice(dom: ParentNode & globalThis.Node, _options?: ParseOptions): Slice {
    const tree = treeOf(dom);
    const isOwn = tree.some((node) => isElement(node) && Object.hasOwn(node.attributes, ownMark));
    const blocks = readBlocks(isOwn ? withoutMark(tree) : tree.flatMap(cleaned));
    return Slice.maxOpen(Fragment.from(blocks));
  }
}

export const clipboardSerializer = new Serializer({}, {});
export const clipboardParser = new Parser(schema, []);

/**
 * Prepares pasted HTML for the browser, and removes the attribute with which another editor of this kind describes a part
 * of its document.
 */
export function pastedHtml(html: string): string {
  return withoutStyles(html.replace(/ data-pm-slice="[^"]*"/, ''));
}

function withoutMark(tree: readonly HtmlNode[]): HtmlNode[] {
  return tree.map((node) => {
    if (!isElement(node)) return node;
    const { [ownMark]: _own, ...attributes } = node.attributes;
    return { ...node, attributes };
  });
}

/** Attributes that keep their meaning in a lesson. */
const keptAttributes: Record<string, string[]> = {
  a: ['href'],
  img: ['src', 'alt'],
  ol: ['start'],
  th: ['scope', 'colspan', 'rowspan'],
  td: ['colspan', 'rowspan'],
};

/** Cleans HTML of Word, Google Docs or a web page: keeps what the schema knows, and the text of everything else. */
export function cleaned(node: HtmlNode): HtmlNode[] {
  if (typeof node === 'string') return [node];
  if (!isElement(node)) return [];
  const { tag, attributes, children } = node;
  if (/^(?:script|style|title|meta|link|xml|o:.*|template|svg|iframe|video|audio|object)$/.test(tag))
    return [];
  if (tag === 'math') return [node];
  const inner = children.flatMap(cleaned);
  const kept = (name: string, content: HtmlNode[] = inner): HtmlElement => ({
    tag: name,
    attributes: keptOf(tag, attributes),
    children: content,
  });
  const style = attributes.style ?? '';
  if (tag === 'img') return /^(?:https?|data|media):/.test(attributes.src ?? '') ? [kept('img')] : [];
  if (tag === 'br' || tag === 'hr') return [kept(tag)];
  // Google Docs wraps everything in a `b` that is not bold, and formats with styles.
  if (tag === 'span' || ((tag === 'b' || tag === 'strong') && /font-weight:\s*(?:normal|400)/.test(style)))
    return styled(style, inner);
  if (tag === 'p' && /mso-list|MsoListParagraph/.test(style + (attributes.class ?? '')))
    return [kept('p', withoutBullet(inner))];
  if (tag === 'a' && attributes.href === undefined) return inner;
  const isKept = markTags.has(tag)
    ? tag !== 'font' && tag !== 'small' && tag !== 'big'
    : isBlockTag(tag) && !containerTags.has(tag);
  const isTablePart = tag === 'caption' || tag === 'colgroup' || tag === 'col';
  if (isKept || (isTablePart && tag === 'caption')) return [kept(tag)];
  return isTablePart ? [] : inner;
}

function keptOf(tag: string, attributes: Attributes): Attributes {
  const names = keptAttributes[tag] ?? [];
  return Object.fromEntries(
    names.flatMap((name) => (attributes[name] === undefined ? [] : [[name, attributes[name]]])),
  );
}

const styles: [RegExp, string][] = [
  [/font-weight:\s*(?:bold|[6-9]00)/, 'strong'],
  [/font-style:\s*italic/, 'em'],
  [/vertical-align:\s*sub/, 'sub'],
  [/vertical-align:\s*super/, 'sup'],
  [/text-decoration[^;]*:\s*[^;]*underline/, 'u'],
];

function styled(style: string, inner: HtmlNode[]): HtmlNode[] {
  return styles.reduce(
    (content, [pattern, tag]) =>
      pattern.test(style) && content.length > 0 ? [{ tag, attributes: {}, children: content }] : content,
    inner,
  );
}

/** Word writes the bullets of its lists as text. */
function withoutBullet([first, ...rest]: HtmlNode[]): HtmlNode[] {
  if (typeof first !== 'string') return first === undefined ? [] : [first, ...rest];
  return [first.replace(/^\s*[·•o§-]\s+/, ''), ...rest];
}
