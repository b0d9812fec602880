import { element } from './dom.ts';

/** What browsers of the support table (docs/player.md) lack. test/player/browsers.test.ts names what to replace. */

/** Returns a signal that is aborted after a time, or together with another signal. */
export function abortAfter(timeoutMs: number, signal?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  setTimeout(() => controller.abort(new DOMException('The time is over', 'TimeoutError')), timeoutMs);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

/** Parses a URL; returns undefined for anything else. */
export function parseUrl(url: string, base: string | URL): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
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
