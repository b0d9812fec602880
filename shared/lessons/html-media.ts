import { defaultTreeAdapter, html as html5, parseFragment } from 'parse5';
import type { DefaultTreeAdapterTypes, Token } from 'parse5';
import { LecternError } from '../platform/errors.ts';
import { quote } from './json-values.ts';
import type { PictureSize } from './picture-size.ts';
import { replaceCandidates } from './srcset.ts';

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

/** Receives the faults of an HTML text, and returns additions to it. */
export interface HtmlReports {
  /** Called with each element that no learner sees, as `<iframe src="…">`, and the reason. */
  onLost?: ((element: string, reason: string) => void) | undefined;
  /** Returns the size of a picture by its URL, so that players reserve its space. */
  sizeOf?: ((src: string) => PictureSize | undefined) | undefined;
}

/** Attributes whose values are URLs or CSS. Texts without one are not parsed. */
const urlAttribute = /^(?:(?:xlink:)?href|src|srcset|poster|style|background|data|action|formaction)$/;
const mayLoad = /(?:href|src|srcset|poster|style|background|data|action)\s*=/i;

/**
 * Elements that players remove: they would load other pages, run scripts, or move by themselves. DOMPurify and
 * player/html.ts decide.
 */
const removedElements = new Set(
  (
    'applet canvas dialog embed frame frameset iframe input marquee object portal script select textarea ' +
    'animate animateMotion animateTransform foreignObject set use'
  ).split(' '),
);
const mayLose = new RegExp(`<(?:${[...removedElements].join('|')}|audio|video)[\\s/>]`, 'i');

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
 * @throws {LecternError} INVALID_CONTENT for HTML with more than 512 levels; {@link TooManyElements}; for an attribute
 *   with the URL of a file on a computer or in a network
 */
export function replaceMediaUrls(
  html: string,
  replace: ReplaceUrl,
  elements: ElementCount,
  { onLost, sizeOf }: HtmlReports = {},
): string {
  if (!html.includes('<') || !(mayLoad.test(html) || (onLost && mayLose.test(html)))) return html;
  const edits: Edit[] = [];
  for (const element of elementsOf(parseHtml(html, elements))) {
    const lost = onLost && lossOf(element);
    if (lost !== undefined) onLost?.(shownElement(element), lost);
    for (const attribute of element.attrs) {
      const { value } = attribute;
      const name = sourceName(attribute);
      if (!urlAttribute.test(name) || !isFileUrl(value)) continue;
      throw new LecternError('INVALID_CONTENT', fileUrlFault(`${name}="${value.slice(0, 100)}"`));
    }
    for (const { name, use } of urlAttributes(element)) {
      const edit = editOf(html, element, name, (value) => {
        if (name === 'srcset') return replaceCandidates(value, (url) => replace(url, use));
        const replaced = replace(value.trim(), use);
        if (element.tagName === 'img')
          edits.push(...sizeEdits(html, element, sizeOf?.(replaced ?? value.trim())));
        return replaced;
      });
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
 * Returns whether a URL, or CSS with one, refers to a file on a computer or in a network. A browser that opens an archive
 * from a folder would ask that computer at once, and Windows would log in to it.
 */
export function isFileUrl(value: string): boolean {
  const plain = value.replace(/[\t\n\r]/g, '');
  return /^\s*(?:file:|[\\/]*\\[\\/])/i.test(plain) || /url\(\s*(?:["']\s*)?(?:file:|\\)/i.test(plain);
}

/** Says why a file URL is rejected. */
export function fileUrlFault(shown: string): string {
  return `${shown} refers to a file outside the package. Put the file into media/, and refer to it as media:<id>`;
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

/** Says why learners do not see an element; undefined for one that they see. */
function lossOf({ tagName, attrs }: Element): string | undefined {
  if (removedElements.has(tagName)) return 'is not shown';
  // Players let nothing play by itself.
  const isPlayer = tagName === 'audio' || tagName === 'video';
  return isPlayer && !attrs.some(({ name }) => name === 'controls')
    ? 'has no attribute controls, so that no learner can play it'
    : undefined;
}

/** Returns the tag of an element for a message, with the URL that it loads. */
function shownElement({ tagName, attrs }: Element): string {
  const source = attrs.find(({ name }) => name === 'src' || name === 'data' || name === 'href');
  return source === undefined ? `<${tagName}>` : `<${tagName} ${source.name}=${quote(source.value)}>`;
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

/** Returns an edit that adds the size of a picture to its element, as far as the author has not. */
function sizeEdits(
  html: string,
  { attrs, sourceCodeLocation }: Element,
  size: PictureSize | undefined,
): Edit[] {
  const tag = '<img';
  const start = (sourceCodeLocation?.startOffset ?? 0) + tag.length;
  if (size === undefined || html.slice(start - tag.length, start).toLowerCase() !== tag) return [];
  const text = sizeAttributes(size, new Map(attrs.map(({ name, value }) => [name, value])));
  return text === '' ? [] : [{ start, end: start, text }];
}

function sizeAttributes({ width, height, isFluid }: PictureSize, given: ReadonlyMap<string, string>): string {
  const [across, down] = [given.get('width'), given.get('height')];
  if (across !== undefined && down !== undefined) return '';
  // A picture that is chosen by the width of the page has that width.
  const isFixed = isFluid !== true && !given.has('sizes') && !/\s\d+w\b/.test(given.get('srcset') ?? '');
  if (isFixed && across === undefined && down === undefined) return ` width="${width}" height="${height}"`;
  const pixels = Number(across ?? down);
  if (isFixed && pixels > 0) {
    return across === undefined
      ? ` width="${Math.round((pixels * width) / height)}"`
      : ` height="${Math.round((pixels * height) / width)}"`;
  }
  return given.has('style') ? '' : ` style="aspect-ratio: auto ${width} / ${height}"`;
}

function sourceName({ prefix, name }: Token.Attribute): string {
  return prefix === undefined || prefix === '' ? name : `${prefix}:${name}`;
}
