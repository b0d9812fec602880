import type { HtmlNode } from './html-tree.ts';
import { isElement } from './html-tree.ts';

/** The marks of the schema, by the elements that mean them. */
export const markTags: ReadonlyMap<string, string> = new Map([
  ...entries('strong', 'strong b'),
  ...entries('em', 'em i'),
  ...entries('underline', 'u'),
  ...entries('strike', 's strike'),
  ...entries('code', 'code'),
  ...entries('subscript', 'sub'),
  ...entries('superscript', 'sup'),
  ...entries('link', 'a'),
  ...entries('inline', 'abbr bdi bdo big cite del dfn font ins kbd mark q samp small span time tt var'),
]);

/** Elements that only group others. */
export const containerTags = new Set(
  'address article aside center dd details div dl dt figcaption figure footer header main nav section summary'.split(
    ' ',
  ),
);

export const tableTags = new Set('table tbody tfoot thead tr td th'.split(' '));

const blockTags = new Set([
  ...containerTags,
  ...tableTags,
  ...'blockquote h1 h2 h3 h4 h5 h6 hr li ol p pre ul'.split(' '),
]);

function entries(mark: string, tags: string): [string, string][] {
  return tags.split(' ').map((tag) => [tag, mark]);
}

export function isBlockTag(tag: string): boolean {
  return blockTags.has(tag);
}

/** Returns whether an element is a mark: it has a text or a picture, and no block. */
export function isMark(node: HtmlNode): boolean {
  return isElement(node) && markTags.has(node.tag) && hasLeaf(node) && !hasBlock(node);
}

function hasLeaf(node: HtmlNode): boolean {
  if (!isElement(node)) return typeof node !== 'string' || node !== '';
  if (markTags.has(node.tag)) return node.children.some(hasLeaf);
  return true;
}

function hasBlock(node: HtmlNode): boolean {
  return (
    isElement(node) &&
    node.children.some((child) => isElement(child) && (isBlockTag(child.tag) || hasBlock(child)))
  );
}
