import { defaultTreeAdapter, html as html5, parseFragment } from 'parse5';
import type { DefaultTreeAdapterTypes, Token } from 'parse5';
import { LecternError } from '../platform/errors.ts';

export type MediaKind = 'image' | 'video' | 'audio' | 'captions';

/** The use of a URL in HTML: the browser loads a media file, or follows a link. */
export type UrlUse = MediaKind | 'link';

/** Returns the replacement of a URL; null to keep the URL. */
export type ReplaceUrl = (url: string, use: UrlUse) => string | null;

/** Beyond this limit, an HTML parser's work grows with the square of the text. Browsers nest 512 levels. */
const maxDepth = 512;

/** The maximum number of elements in all HTML texts of a lesson: a parser reopens unclosed ones in each paragraph. */
const maxElements = 250_000;

/** Counts the elements of a lesson. */
export class ElementCount {
  #elements = 0;

  /** @throws {TooManyElements} */
  add(): void {
    this.#elements += 1;
    if (this.#elements > maxElements) throw new TooManyElements();
  }
}

/** Reports a lesson whose HTML would take too long to parse. */
export class TooManyElements extends LecternError {
  constructor() {
    super('INVALID_CONTENT', `The HTML of the lesson has more than ${maxElements} elements`);
  }
}

/** Texts without such an attribute are not parsed. */
const mayLoad = /(?:src|srcset|poster|href)\s*=/i;

type Element = DefaultTreeAdapterTypes.Element;
type Node = DefaultTreeAdapterTypes.Node;

/** A replacement of a part of a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/**
 * Replaces the URLs that a browser loads to show an HTML text, and those of links. The former are `src`, `srcset` and
 * `poster` of pictures, video and audio, and `href` of pictures in SVG. Keeps everything else byte for byte.
 *
 * @param elements counts those of all texts of the lesson
 * @throws {LecternError} INVALID_CONTENT for HTML with more than 512 levels; {@link TooManyElements}
 */
export function replaceMediaUrls(html: string, replace: ReplaceUrl, elements: ElementCount): string {
  if (!html.includes('<') || !mayLoad.test(html)) return html;
  const edits: Edit[] = [];
  for (const element of elementsOf(parseHtml(html, elements))) {
    for (const { name, use } of urlAttributes(element)) {
      const edit = editOf(html, element, name, (value) =>
        name === 'srcset' ? replaceCandidates(value, use, replace) : replace(value.trim(), use),
      );
      if (edit !== null) edits.push(edit);
    }
  }
  return edited(html, edits);
}

/** Applies edits. Of two that overlap, only the first counts. */
export function edited(html: string, edits: Edit[]): string {
  let text = '';
  let position = 0;
  for (const { start, end, text: replacement } of edits.toSorted((a, b) => a.start - b.start)) {
    // A parser moves misplaced elements. None occurs twice, but overlapping edits would damage the text.
    if (start < position) continue;
    text += html.slice(position, start) + replacement;
    position = end;
  }
  return text + html.slice(position);
}

/**
 * Parses HTML as browsers do, with positions in the source.
 *
 * @param elements counts those of all texts of the lesson
 * @throws {LecternError} INVALID_CONTENT for HTML with more than 512 levels; {@link TooManyElements}
 */
export function parseHtml(html: string, elements: ElementCount): DefaultTreeAdapterTypes.DocumentFragment {
  const depths = new WeakMap<object, number>();
  const appended = (parent: object, child: object) => {
    const depth = (depths.get(parent) ?? 0) + 1;
    if (depth > maxDepth) {
      throw new LecternError('INVALID_CONTENT', `The HTML is nested deeper than ${maxDepth} levels`);
    }
    depths.set(child, depth);
  };
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    createElement(...args) {
      elements.add();
      return defaultTreeAdapter.createElement(...args);
    },
    appendChild(parent, child) {
      appended(parent, child);
      defaultTreeAdapter.appendChild(parent, child);
    },
    insertBefore(parent, child, reference) {
      appended(parent, child);
      defaultTreeAdapter.insertBefore(parent, child, reference);
    },
  };
  return parseFragment(html, { sourceCodeLocationInfo: true, scriptingEnabled: false, treeAdapter });
}

function* elementsOf(root: Node): Generator<Element> {
  const pending: Node[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ('tagName' in node) yield node;
    if ('content' in node) pending.push(node.content);
    if ('childNodes' in node) for (const child of node.childNodes) pending.push(child);
  }
}

/** Returns the attributes with URLs, by their names in the text. */
function urlAttributes(element: Element): { name: string; use: UrlUse }[] {
  const { tagName, namespaceURI, parentNode } = element;
  if (namespaceURI === html5.NS.SVG) {
    const use = tagName === 'a' ? 'link' : tagName === 'image' || tagName === 'feImage' ? 'image' : null;
    return use === null ? [] : ['href', 'xlink:href'].map((name) => ({ name, use }));
  }
  switch (tagName) {
    case 'a':
    case 'area':
      return [{ name: 'href', use: 'link' }];
    case 'img':
      return [
        { name: 'src', use: 'image' },
        { name: 'srcset', use: 'image' },
      ];
    case 'video':
      return [
        { name: 'src', use: 'video' },
        { name: 'poster', use: 'image' },
      ];
    case 'audio':
      return [{ name: 'src', use: 'audio' }];
    case 'track':
      return [{ name: 'src', use: 'captions' }];
    case 'source': {
      const isAudio = parentNode !== null && 'tagName' in parentNode && parentNode.tagName === 'audio';
      return [
        { name: 'src', use: isAudio ? 'audio' : 'video' },
        { name: 'srcset', use: 'image' },
      ];
    }
    default:
      return [];
  }
}

function editOf(
  html: string,
  element: Element,
  name: string,
  change: (value: string) => string | null,
): Edit | null {
  const attribute = element.attrs.find((one) => sourceName(one) === name);
  const location = element.sourceCodeLocation?.attrs?.[name];
  if (attribute === undefined || location === undefined) return null;
  const changed = change(attribute.value);
  if (changed === null) return null;
  const { startOffset: start, endOffset: end } = location;
  const written = html.slice(start, end);
  const before = /^[^=]*=\s*/.exec(written)?.[0];
  if (before === undefined || !written.toLowerCase().startsWith(name)) return null;
  const quote = written[before.length] === "'" ? "'" : '"';
  const escaped = changed.replaceAll('&', '&amp;').replaceAll(quote, quote === '"' ? '&quot;' : '&#39;');
  return { start, end, text: `${before}${quote}${escaped}${quote}` };
}

function sourceName({ prefix, name }: Token.Attribute): string {
  return prefix === undefined || prefix === '' ? name : `${prefix}:${name}`;
}

/**
 * Replaces the URL of each image candidate of a `srcset`, as the HTML Standard splits it; null when none changes.
 * Scans the text once: the time of a regular expression would grow with the square of the text.
 */
function replaceCandidates(value: string, use: UrlUse, replace: ReplaceUrl): string | null {
  let replaced = '';
  let changes = false;
  let copied = 0;
  for (let at = 0; at < value.length;) {
    if (isSpace(value[at]) || value[at] === ',') {
      at += 1;
      continue;
    }
    const start = at;
    while (at < value.length && !isSpace(value[at])) at += 1;
    let end = at;
    while (value[end - 1] === ',') end -= 1;
    const replacement = replace(value.slice(start, end), use);
    if (replacement !== null) {
      replaced += value.slice(copied, start) + replacement;
      copied = end;
      changes = true;
    }
    // A comma directly after the URL ends the candidate. Otherwise its descriptors follow.
    if (end === at) at = endOfDescriptors(value, at);
  }
  return changes ? replaced + value.slice(copied) : null;
}

function endOfDescriptors(value: string, start: number): number {
  let isInParentheses = false;
  for (let at = start; at < value.length; at += 1) {
    if (value[at] === '(') isInParentheses = true;
    else if (value[at] === ')') isInParentheses = false;
    else if (value[at] === ',' && !isInParentheses) return at;
  }
  return value.length;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && ' \t\n\f\r'.includes(character);
}
