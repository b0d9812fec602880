import DOMPurify from 'dompurify';
import { element, hintWhenWide } from './dom.ts';
import { holdFormula, isMathml, keepFormulaStyles } from './formulas.ts';
import type { CoreContext } from './define.ts';
import { reserveInText } from './picture-space.ts';
import { isPlayable } from './media-url.ts';
import { text } from './props.ts';
import { isolateParts, leadToPart } from './text-parts.ts';
import type { WidgetContext } from './widget.ts';
import { message } from '../shared/i18n/message.ts';
import { parseUrl } from '../shared/platform/parse-url.ts';
import { withParagraphs } from '../shared/lessons/plain-paragraphs.ts';
import { replaceCandidates } from '../shared/lessons/srcset.ts';

/**
 * The sanitizer allows these tags and attributes, but authors' text must not contain them. They are form fields (a fake
 * login form), styles (text over the player), and anything that moves or plays by itself.
 */
const forbiddenTags = [
  'button',
  'dialog',
  'fieldset',
  'form',
  'input',
  'marquee',
  'optgroup',
  'option',
  'select',
  'style',
  'textarea',
];
const forbiddenAttributes = [
  'autoplay',
  'background',
  'command',
  'commandfor',
  'popover',
  'popovertarget',
  'popovertargetaction',
];

/** The sanitizer's own schemes, and `media:`, which is only a name until it is resolved. */
const allowedUri = /^(?:(?:https?|mailto|tel|sms|blob|media):|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i;

/** Elements that load a file as soon as they are on the page; `image` is SVG's. */
const mediaElements = 'img, audio, video, source, track, image, feImage';

/** SVG attributes that may refer to a part of the same text, `url(#…)`, or to another file. */
const paintAttributes = [
  'clip-path',
  'fill',
  'filter',
  'marker-end',
  'marker-mid',
  'marker-start',
  'mask',
  'stroke',
];

/** Attributes that refer to parts with parts of their own. */
const nestedPaint = paintAttributes.filter((name) => !['fill', 'stroke'].includes(name));

/** Parts of drawings that are painted again wherever other parts refer to them. */
const reusedParts = ':is(clipPath, marker, mask, pattern)';

/** Elements that only structure a text. Without attributes, they can load, run or cover nothing. */
const structure =
  'b|blockquote|br|cite|code|dd|dfn|dl|dt|em|i|kbd|li|ol|p|s|samp|small|strong|sub|sup|u|ul|var';

/** The beginning of any markup other than tags of these elements without attributes. */
const otherMarkup = new RegExp(`<(?!/?(?:${structure})>)`, 'i');

/**
 * Limits of one text, far above those of drawings and tables for readers. Browsers take many seconds for more, and the
 * page freezes.
 */
const maxFilterSteps = 20;
const maxGradients = 100;
const maxSpannedCells = 100_000;

/** A color, a keyword, or a part of the same text. No backslash, because escapes can spell `url`. */
const safePaint = /^[^(\\]*$|^\s*(?:url\(\s*["']?#[^()\\]*\)|(?:rgb|hsl)a?\([^()\\]*\))[^(\\]*$/i;

/** The style properties that stay: none can load, cover or move anything. */
const keptStyles = [
  'font-style',
  'font-weight',
  'list-style-type',
  'text-align',
  'text-decoration-line',
  'vertical-align',
];

/**
 * Sanitizes an author's HTML. It resolves media references, makes links open outside the lesson, keeps ids apart from
 * those of other texts, and makes wide tables scroll. MathML and inline SVG stay. In plain text, a blank line starts a paragraph.
 *
 * The result is nodes, not a string: mutation attacks rely on parsing sanitized HTML a second time. The nodes belong to
 * an inert document until they are appended, so nothing loads before its URL is resolved.
 */
export function safeHtml(source: unknown, context: CoreContext): DocumentFragment {
  const html = withParagraphs(text(source));
  // Most texts are plain or have only paragraphs, lists and emphasis. Sanitizing them would take longer than showing them.
  if (!/[<&]/.test(html)) return plainText(html);
  if (!otherMarkup.test(html)) return structuredText(html);
  const fragment = sanitized(html);
  const painted = paintAttributes.map((name) => `[${name}]`).join();
  isolateParts(fragment);
  for (const node of fragment.querySelectorAll('[class]')) removePlayerClasses(node);
  for (const node of fragment.querySelectorAll('[style]')) keepHarmlessStyles(node);
  for (const node of fragment.querySelectorAll(painted)) removeUnsafePaint(node);
  limitDrawings(fragment);
  for (const node of fragment.querySelectorAll(mediaElements)) resolveMediaOf(node, context);
  for (const link of fragment.querySelectorAll('a, area')) openOutside(link, context);
  for (const node of fragment.querySelectorAll(`:is([href], [*|href]):not(a, area, ${mediaElements})`))
    keepInside(node);
  for (const table of fragment.querySelectorAll('table')) {
    limitSpans(table);
    makeScrollable(table, context);
  }
  for (const wide of fragment.querySelectorAll('pre')) hintWhenWide(wide);
  for (const formula of fragment.querySelectorAll('math')) holdFormula(formula, context.language);
  return fragment;
}

/**
 * Makes an element with an author's HTML in the lesson's typography; undefined if there is no text. It scrolls sideways
 * if a part cannot wrap, such as a list in hundreds of lists.
 */
export function richText(source: unknown, context: CoreContext): HTMLElement | undefined {
  if (!text(source)) return undefined;
  const holder = element('div', { class: 'lectern-rich' });
  holder.append(safeHtml(source, context));
  hintWhenWide(holder);
  return holder;
}

const mathEnd = '</math>';

/** Returns a text without HTML, in which import has converted formulas to `math` elements. */
export function textWithFormulas(source: string, context: WidgetContext): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let position = 0;
  for (let start = source.indexOf('<math'); start >= 0; start = source.indexOf('<math', position)) {
    const end = source.indexOf(mathEnd, start);
    if (end < 0) break;
    fragment.append(source.slice(position, start));
    position = end + mathEnd.length;
    fragment.append(safeHtml(source.slice(start, position), context));
  }
  fragment.append(source.slice(position));
  return fragment;
}

let hasRules = false;

/**
 * Sanitizes HTML. Sets the rules only once, because the library copies their lists at each call that passes them, which
 * costs more than sanitizing most texts.
 */
function sanitized(html: string): DocumentFragment {
  if (!hasRules) {
    DOMPurify.setConfig({
      RETURN_DOM_FRAGMENT: true,
      FORBID_TAGS: forbiddenTags,
      FORBID_ATTR: forbiddenAttributes,
      // Without it, the scripts after a missing one of `mmultiscripts` would move to other places.
      ADD_TAGS: ['none'],
      // Where an operator stands decides about its space.
      ADD_ATTR: ['form'],
      // A formula's source, which would otherwise appear as text beside the formula.
      ADD_FORBID_CONTENTS: ['annotation', 'annotation-xml'],
      // Ids such as `title`, which it would otherwise remove, get a prefix.
      SANITIZE_NAMED_PROPS: true,
      ALLOWED_URI_REGEXP: allowedUri,
    });
    hasRules = true;
  }
  // The option is only for the compiler.
  return DOMPurify.sanitize(html, { RETURN_DOM_FRAGMENT: true });
}

function plainText(source: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(source);
  return fragment;
}

/** @param html has no other markup than that of {@link structure} */
function structuredText(html: string): DocumentFragment {
  const template = element('template');
  try {
    template.innerHTML = html;
  } catch {
    // The page requires Trusted Types, and only the sanitizer has a policy for them.
    return sanitized(html);
  }
  return template.content;
}

function keepHarmlessStyles(node: Element): void {
  if (isMathml(node)) return keepFormulaStyles(node);
  if (!('style' in node)) return;
  const { style } = node as HTMLElement;
  // The space of a picture, which an import adds.
  const names = node.localName === 'img' ? [...keptStyles, 'aspect-ratio'] : keptStyles;
  const kept = names.map((name) => [name, style.getPropertyValue(name)] as const);
  node.removeAttribute('style');
  for (const [name, value] of kept) if (value) style.setProperty(name, value);
}

/** Removes paint that refers to other files, which browsers would load at once. */
function removeUnsafePaint(node: Element): void {
  for (const name of paintAttributes) {
    if (!safePaint.test(node.getAttribute(name) ?? '')) node.removeAttribute(name);
  }
}

/** Removes the parts of drawings that take unbounded time, such as masks that each use two masks, 25 levels deep. */
function limitDrawings(fragment: DocumentFragment): void {
  for (const node of fragment.querySelectorAll(`${reusedParts}, ${reusedParts} *`)) {
    for (const name of nestedPaint) node.removeAttribute(name);
  }
  const filtered = fragment.querySelectorAll('[filter]');
  if (filtered.length * fragment.querySelectorAll('filter > *').length > maxFilterSteps) {
    for (const node of filtered) node.removeAttribute('filter');
  }
  const gradients = [...fragment.querySelectorAll('linearGradient, radialGradient')];
  for (const gradient of gradients.slice(maxGradients)) gradient.remove();
}

/** Removes the spans of a table if they multiply its cells excessively. */
function limitSpans(table: HTMLTableElement): void {
  const cells = [...table.querySelectorAll<HTMLTableCellElement>('td, th')];
  const rows = table.rows.length;
  const covered = cells.reduce((sum, { colSpan, rowSpan }) => sum + colSpan * Math.min(rowSpan, rows), 0);
  if (covered <= maxSpannedCells) return;
  for (const cell of cells) {
    cell.removeAttribute('colspan');
    cell.removeAttribute('rowspan');
  }
}

/** Removes the player's classes, because text must not look like its drawer or dialogs, which cover the page. */
function removePlayerClasses(node: Element): void {
  node.classList.remove(...[...node.classList].filter((name) => /^lectern-/i.test(name)));
}

function resolveMediaOf(node: Element, context: WidgetContext & Pick<CoreContext, 'sizeOf'>): void {
  if (node instanceof HTMLImageElement) reserveInText(node, context.sizeOf?.(node.getAttribute('src') ?? ''));
  for (const name of ['src', 'poster', 'href', 'xlink:href']) {
    const src = node.getAttribute(name);
    if (src === null) continue;
    const url = context.resolveMedia(src.trim());
    if (isPlayable(url)) node.setAttribute(name, url);
    else node.removeAttribute(name);
  }
  const sources = node.getAttribute('srcset');
  if (sources !== null) {
    const urls: string[] = [];
    const resolved = replaceCandidates(sources, (src) => {
      const url = context.resolveMedia(src);
      urls.push(url);
      return url;
    });
    if (resolved !== null && urls.every(isPlayable)) node.setAttribute('srcset', resolved);
    else node.removeAttribute('srcset');
  }
  if (node.localName === 'img') node.setAttribute('loading', 'lazy');
}

function openOutside(link: Element, context: WidgetContext): void {
  // The name of the attribute in older SVG, which browsers still follow.
  const old = link.getAttribute('xlink:href');
  link.removeAttribute('xlink:href');
  if (old !== null && !link.hasAttribute('href')) link.setAttribute('href', old);
  const href = link.getAttribute('href')?.trim() ?? '';
  if (href.startsWith('#')) leadToPart(link);
  if (!href || href.startsWith('#')) return;
  const url = linkUrl(href, context);
  if (url === undefined) {
    link.removeAttribute('href');
    return;
  }
  link.setAttribute('href', url);
  // The lesson stays open; the opened page gets neither its window nor its URL.
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
}

/**
 * Returns the URL of a link; undefined for one that leads to no page or file. On a page from a folder, `//host` would be a
 * file of that host.
 */
function linkUrl(href: string, context: WidgetContext): string | undefined {
  if (/^(media:|\.\/media\/)/i.test(href)) {
    const resolved = context.resolveMedia(href);
    return isPlayable(resolved) ? resolved : undefined;
  }
  const url = parseUrl(href, document.baseURI);
  if (url === null) return undefined;
  if (url.protocol !== 'file:') return href;
  return url.host === '' ? undefined : new URL(href, 'https://page.invalid').href;
}

/** Removes references of drawings and formulas to anything but parts of the same text. */
function keepInside(node: Element): void {
  for (const { name, localName, value } of [...node.attributes]) {
    if (localName === 'href' && !value.trim().startsWith('#')) node.removeAttribute(name);
  }
}

function makeScrollable(table: Element, context: WidgetContext): void {
  const label =
    table.querySelector('caption')?.textContent.trim() || message(context.language, 'widget.table');
  const scroller = element('div', {
    class: 'lectern-scroll',
    role: 'group',
    'aria-label': label,
  });
  table.replaceWith(scroller);
  scroller.append(table);
  hintWhenWide(scroller);
}
