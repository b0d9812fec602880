import { parseUrl } from '../../shared/platform/parse-url.ts';
import { element } from '../dom.ts';
import type { LessonOptions } from '../lesson/options.ts';
import type { WidgetCode } from '../widget.ts';
import type { WidgetSource } from '../lesson/widget-loader.ts';

/** Files of the archive inside the page, as worker/exports/index-page.ts writes them. */
export interface InlineFiles {
  /** By type. */
  widgets: Record<string, WidgetCode>;
  /** Texts by their paths in the lesson. */
  captions: Record<string, string>;
  /** Data URLs of the media of custom widgets, by their paths in the lesson. */
  media: Record<string, string>;
  attributions: NonNullable<LessonOptions['attributions']>;
  /** The organization's logo. */
  logo?: { src: string; alt: string };
}

/** Returns a source of the page's widgets. Their frames may fetch files of the folder only, even if the page may more. */
export function inlineWidgets(widgets: InlineFiles['widgets']): WidgetSource {
  const policy = `connect-src ${folderSource()} data: blob:`;
  return (type) => {
    const code = Object.hasOwn(widgets, type) ? widgets[type] : undefined;
    return Promise.resolve(code ? { ...code, policy } : null);
  };
}

/** Returns a function that replaces files of the page, because a page from a folder cannot read files. */
export function inlineMedia({ captions, media }: InlineFiles): (src: string) => string {
  const urls = new Map<string, string>();
  return (src) => {
    if (Object.hasOwn(media, src)) return media[src] ?? src;
    const text = Object.hasOwn(captions, src) ? captions[src] : undefined;
    if (text === undefined) return src;
    const url = urls.get(src) ?? URL.createObjectURL(new Blob([text], { type: 'text/vtt' }));
    urls.set(src, url);
    return url;
  };
}

/**
 * Narrows the page's policy to its own folder, which is unknown when the page is made: an archive contacts no host,
 * whatever its lesson says.
 *
 * @param connect the only sources from which scripts may fetch; by default those of the page's policy
 */
export function confinePage(connect?: string): void {
  const found = document.querySelector('meta[http-equiv="Content-Security-Policy" i]');
  const policy = (found?.getAttribute('content') ?? '').replaceAll("'self' file:", () => folderSource());
  const content =
    connect === undefined
      ? policy
      : policy.replace(/connect-src [^;]*/, () => `connect-src ${connect} data: blob:`);
  document.head.append(element('meta', { 'http-equiv': 'Content-Security-Policy', content }));
}

/** Returns the source of files in the page's folder. */
export function folderSource(): string {
  return sourceOf(folder());
}

/** Returns the source of a URL without its query; one that ends with a slash includes all below it. */
export function sourceOf({ protocol, host, pathname }: URL): string {
  // Policies allow fewer characters in a path than URLs, and a source needs a host.
  const path = pathname.replace(/[^\w.~/%:@!$&()*+=-]/g, encodeURIComponent).replaceAll("'", '%27');
  return `${protocol}//${host || '*'}${path}`;
}

function folder(): URL {
  return new URL('.', document.baseURI);
}

/** Returns a function that resolves media within the page's folder. */
export function ownFiles(resolve: (src: string) => string): (src: string) => string {
  const own = folder();
  return (src) => {
    const url = resolve(src);
    if (/^(?:blob|data):/i.test(url)) return url;
    // No element loads this scheme.
    return parseUrl(url, own)?.href.startsWith(own.href) ? url : `outside:${url}`;
  };
}
