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
