import { parseUrl } from '../../shared/platform/parse-url.ts';
import { element } from '../dom.ts';
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
  /** The organization's logo. */
  logo?: { src: string; alt: string };
}

/** Returns a source of the page's widgets. */
export function inlineWidgets(widgets: InlineFiles['widgets']): WidgetSource {
  return (type) => Promise.resolve((Object.hasOwn(widgets, type) ? widgets[type] : undefined) ?? null);
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
 * Lets the page load pictures, sound and fonts only from its own folder, and returns a function that resolves media
 * within it: an archive contacts no host, whatever its lesson says.
 */
export function ownFiles(resolve: (src: string) => string): (src: string) => string {
  const folder = new URL('.', document.baseURI);
  // A source of the policy needs a host, and may not contain the separators of directives.
  const path = folder.pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
  const source = `${folder.protocol}//${folder.host || '*'}${path} data: blob:`;
  const policy = `img-src ${source}; media-src ${source}; font-src ${source}`;
  document.head.append(element('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }));
  return (src) => {
    const url = resolve(src);
    if (/^(?:blob|data):/i.test(url)) return url;
    // No element loads this scheme.
    return parseUrl(url, folder)?.href.startsWith(folder.href) ? url : `outside:${url}`;
  };
}
