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
 */
export function addStyles(css: string): void {
  const page: Partial<Document> & Pick<Document, 'styleSheets' | 'head'> = document;
  if (page.adoptedStyleSheets) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    page.adoptedStyleSheets.push(sheet);
    return;
  }
  const own = [...page.styleSheets].filter(({ href }) => href === null).pop();
  if (own) own.insertRule(`@media all{${css}}`, own.cssRules.length);
  else page.head.append(element('style', {}, css));
}
