import { defaultTreeAdapter, parseFragment, serialize } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';
import { escapeHtml } from '../questions/question-blocks.ts';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

/** Attributes with the looks and behavior of another program. */
const droppedAttributes = /^(?:on.*|style|class|id|data-.*|aria-.*|role|loading|allow.*|controls.*)$/i;
const droppedElements = new Set(['script', 'style', 'link', 'meta', 'title', 'base', 'noscript', 'template']);

const maxDepth = 200;

export interface HtmlFiles {
  /** Returns the reference to a file that a text shows or links to; null if it is missing. */
  reference: (href: string, isLink: boolean) => string | null;
  lose: (loss: string) => void;
}

/** Returns the nodes of HTML of another program, as Lectern shows them: with formulas as TeX and references to media. */
export function importedNodes(html: string, files: HtmlFiles): Node[] {
  const { childNodes } = parseFragment(html);
  return childNodes.flatMap((node) => imported(node, files, 0));
}

/** Returns HTML of another program, as Lectern shows it. */
export function importedHtml(html: string, files: HtmlFiles): string {
  return htmlOf(importedNodes(html, files)).trim();
}

export function htmlOf(nodes: readonly Node[]): string {
  const fragment = defaultTreeAdapter.createDocumentFragment();
  for (const node of nodes) defaultTreeAdapter.appendChild(fragment, node);
  return serialize(fragment);
}

function imported(node: Node, files: HtmlFiles, depth: number): Node[] {
  if (!('tagName' in node)) return 'value' in node ? [node] : [];
  const { tagName } = node;
  if (tagName === 'script') files.lose('a program (script) is left out');
  if (droppedElements.has(tagName) || depth > maxDepth) return [];
  const tex = texOf(node);
  if (tex !== null) return textNodes(`\\(${tex}\\)`);
  if (tagName === 'iframe' || tagName === 'object' || tagName === 'embed') return frame(node, files);
  if (!node.attrs.every((attribute) => keepAttribute(node, attribute, files))) {
    if (tagName === 'img') return textNodes(valueOf(node, 'alt') ?? '');
  }
  node.attrs = node.attrs.filter(({ name, value }) => !droppedAttributes.test(name) && value !== '\u0000');
  if (tagName === 'video' || tagName === 'audio') node.attrs.push({ name: 'controls', value: '' });
  node.childNodes = node.childNodes.flatMap((child) => imported(child, files, depth + 1));
  for (const child of node.childNodes) child.parentNode = node;
  return [node];
}

/** Replaces a URL by a reference. Returns false, and marks it for removal, if its file is missing. */
function keepAttribute(
  { tagName }: Element,
  attribute: { name: string; value: string },
  files: HtmlFiles,
): boolean {
  const { name, value } = attribute;
  if (name === 'srcset') {
    attribute.value = '\u0000';
    return true;
  }
  if (name !== 'src' && name !== 'href' && name !== 'poster') return true;
  if (/^(?:https?:|mailto:|tel:|#)/i.test(value.trim())) return true;
  const reference = files.reference(value, tagName === 'a' || tagName === 'area');
  attribute.value = reference ?? '\u0000';
  return reference !== null;
}

/** Canvas shows formulas as pictures, with their LaTeX. */
function texOf(element: Element): string | null {
  if (element.tagName !== 'img') return null;
  const tex = valueOf(element, 'data-equation-content');
  const isEquation = /(?:^|\s)equation_image(?:\s|$)/.test(valueOf(element, 'class') ?? '');
  const written = tex ?? (isEquation ? (valueOf(element, 'title') ?? valueOf(element, 'alt')) : undefined);
  return written === undefined ? null : written.replace(/^LaTeX:\s*/, '').trim();
}

/** A page in a frame becomes a link to it. */
function frame(element: Element, files: HtmlFiles): Node[] {
  const url = valueOf(element, 'src') ?? valueOf(element, 'data') ?? '';
  const isUrl = /^(?:https?:)?\/\//i.test(url);
  const target = isUrl ? url.replace(/^\/\//, 'https://') : files.reference(url, true);
  if (target === null) return [];
  files.lose('what it shows in a frame becomes a link');
  const shown = valueOf(element, 'title') || (isUrl ? target : url);
  const html = `<a href="${escapeHtml(target).replaceAll('"', '&quot;')}">${escapeHtml(shown)}</a>`;
  return parseFragment(html).childNodes;
}

function textNodes(text: string): Node[] {
  return text === '' ? [] : parseFragment(escapeHtml(text)).childNodes;
}

export function valueOf(element: Element, name: string): string | undefined {
  return element.attrs.find((attribute) => attribute.name === name)?.value;
}
