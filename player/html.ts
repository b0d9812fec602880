import DOMPurify from 'dompurify';
import { element } from './dom.ts';
import { isPlayable } from './media.ts';
import { text } from './props.ts';
import type { WidgetContext } from './widget.ts';
import { message } from '../shared/i18n/message.ts';

/**
 * Tags and attributes that the sanitizer would let pass but a lesson's text has no business with: form
 * fields (a look-alike login form), styles (text laid over the player), what moves or sounds by itself.
 */
const FORBIDDEN_TAGS = [
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
const FORBIDDEN_ATTRIBUTES = [
  'autoplay',
  'background',
  'command',
  'commandfor',
  'popover',
  'popovertarget',
  'popovertargetaction',
];

/** The sanitizer's own list of schemes, and `media:`, which is no more than a name until it is resolved. */
const ALLOWED_ADDRESS = /^(?:(?:https?|mailto|tel|sms|blob|media):|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i;

/** Elements that load something as soon as they are on the page; `image` is SVG's. */
const MEDIA = 'img, audio, video, source, track, image, feImage';

/** Attributes of SVG that may name a part of the same text, `url(#…)`, or a file elsewhere. */
const PAINT = ['clip-path', 'fill', 'filter', 'marker-end', 'marker-mid', 'marker-start', 'mask', 'stroke'];

/** A color, a keyword, or a part of the same text. No backslash: it may spell `url` in another way. */
const OWN_PAINT = /^[^(\\]*$|^\s*(?:url\(\s*["']?#[^()\\]*\)|(?:rgb|hsl)a?\([^()\\]*\))[^(\\]*$/i;

/** What is kept of a style attribute: nothing that can load, cover or move anything. */
const KEPT_STYLES = [
  'font-style',
  'font-weight',
  'list-style-type',
  'text-align',
  'text-decoration-line',
  'vertical-align',
];

/**
 * An author's HTML as nodes that are safe to put on the page, with its media references resolved, its links
 * opening outside the lesson, and its tables able to scroll. MathML and inline SVG stay.
 *
 * Plain text is taken too; a blank line in it starts a paragraph.
 *
 * The result is nodes, not a string: what was judged safe is never parsed a second time, which is where
 * mutation attacks live. The nodes belong to an inert document until they are appended, so nothing loads
 * before its address is resolved.
 */
export function safeHtml(source: unknown, context: WidgetContext): DocumentFragment {
  const fragment = DOMPurify.sanitize(paragraphs(text(source)), {
    RETURN_DOM_FRAGMENT: true,
    FORBID_TAGS: FORBIDDEN_TAGS,
    FORBID_ATTR: FORBIDDEN_ATTRIBUTES,
    // A formula's TeX source, which would else be left as text beside the formula.
    ADD_FORBID_CONTENTS: ['annotation'],
    ALLOWED_URI_REGEXP: ALLOWED_ADDRESS,
  });
  for (const node of fragment.querySelectorAll('[style]')) keepHarmlessStyles(node);
  for (const node of fragment.querySelectorAll('[class]')) dropPlayerClasses(node);
  for (const node of fragment.querySelectorAll(PAINT.map((name) => `[${name}]`).join()))
    dropForeignPaint(node);
  for (const node of fragment.querySelectorAll(MEDIA)) resolveMediaOf(node, context);
  for (const link of fragment.querySelectorAll('a, area')) settleLink(link, context);
  for (const table of fragment.querySelectorAll('table')) makeScrollable(table, context);
  for (const formula of fragment.querySelectorAll('math[display="block"]')) reachableWhenWide(formula);
  return fragment;
}

/** An element that shows an author's HTML in the lesson's typography; undefined when there is nothing to show. */
export function richText(source: unknown, context: WidgetContext): HTMLElement | undefined {
  if (!text(source)) return undefined;
  const holder = element('div', { class: 'lectern-rich' });
  holder.append(safeHtml(source, context));
  return holder;
}

function paragraphs(source: string): string {
  if (source.includes('<') || !source.includes('\n')) return source;
  return source
    .split(/\n\s*\n/)
    .map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br>')}</p>`)
    .join('');
}

function keepHarmlessStyles(node: Element): void {
  if (!('style' in node)) return;
  const written = (node as HTMLElement).style;
  const kept = KEPT_STYLES.map((name) => [name, written.getPropertyValue(name)] as const);
  node.removeAttribute('style');
  for (const [name, value] of kept) if (value) written.setProperty(name, value);
}

/** What such an attribute names elsewhere would be loaded at once. */
function dropForeignPaint(node: Element): void {
  for (const name of PAINT) {
    if (!OWN_PAINT.test(node.getAttribute(name) ?? '')) node.removeAttribute(name);
  }
}

/** An author's text looks like no part of the player: its drawer and dialogs cover the page. */
function dropPlayerClasses(node: Element): void {
  node.classList.remove(...[...node.classList].filter((name) => /^lectern-/i.test(name)));
}

function resolveMediaOf(node: Element, context: WidgetContext): void {
  for (const name of ['src', 'poster', 'href', 'xlink:href']) {
    const src = node.getAttribute(name);
    if (src === null) continue;
    const address = context.resolveMedia(src.trim());
    if (isPlayable(address)) node.setAttribute(name, address);
    else node.removeAttribute(name);
  }
  const sources = node.getAttribute('srcset');
  if (sources !== null) {
    node.setAttribute(
      'srcset',
      sources.replace(/media:[^\s,]+/gi, (src) => context.resolveMedia(src)),
    );
  }
  if (node.localName === 'img') node.setAttribute('loading', 'lazy');
}

function settleLink(link: Element, context: WidgetContext): void {
  // The name that addresses had in older SVG, which browsers still follow.
  const old = link.getAttribute('xlink:href');
  link.removeAttribute('xlink:href');
  if (old !== null && !link.hasAttribute('href')) link.setAttribute('href', old);
  const href = link.getAttribute('href')?.trim() ?? '';
  if (!href || href.startsWith('#')) return;
  if (/^(media:|\.\/media\/)/i.test(href)) link.setAttribute('href', context.resolveMedia(href));
  // The lesson keeps its place; the opened page gets neither a handle on it nor its address.
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
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
  reachableWhenWide(scroller);
}

/** Lets the keyboard reach what has to be scrolled to be read, and spares it a stop at what has not. */
function reachableWhenWide(scroller: Element): void {
  const sizes = new ResizeObserver(() => {
    if (scroller.scrollWidth > scroller.clientWidth) scroller.setAttribute('tabindex', '0');
    else scroller.removeAttribute('tabindex');
  });
  sizes.observe(scroller);
}
