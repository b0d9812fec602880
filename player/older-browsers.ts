import { element } from './dom.ts';

/** Replacements for functions that browsers of the support table (docs/player.md) lack: see test/player/browsers.test.ts. */

/** Returns a signal that is aborted after a time, or together with another signal. */
export function abortAfter(timeoutMs: number, signal?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  setTimeout(() => controller.abort(new DOMException('The time is over', 'TimeoutError')), timeoutMs);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

/**
 * Adds styles to the page. Unlike a style element, neither a constructed stylesheet nor a rule that a script inserts needs
 * permission of the page's Content-Security-Policy.
 *
 * @returns the constructed stylesheet; undefined in browsers without them
 */
export function addStyles(css: string): CSSStyleSheet | undefined {
  const page: Partial<Document> & Pick<Document, 'styleSheets' | 'head'> = document;
  if (page.adoptedStyleSheets) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    page.adoptedStyleSheets.push(sheet);
    return sheet;
  }
  const own = [...page.styleSheets].filter(({ href }) => href === null).pop();
  if (own) own.insertRule(`@media all{${css}}`, own.cssRules.length);
  else page.head.append(element('style', {}, css));
  return undefined;
}

/** Returns a random UUID. `crypto.randomUUID` exists only on pages with https. */
export function randomId(): string {
  return uuid([...crypto.getRandomValues(new Uint32Array(4))], '4');
}

/** Returns a UUID of a version with four words of 32 bits. */
export function uuid(words: number[], version: string): string {
  const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
  const variant = ((parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
