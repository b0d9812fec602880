import { addStylesheet } from '../lesson/archive.ts';
import type { WidgetSource } from '../lesson/widget-loader.ts';
import type { Widget } from '../widget.ts';

/** Files of the archive inside the page, as worker/exports/index-page.ts writes them. */
export interface InlineFiles {
  /** By type: the module's source, and the stylesheet's path. */
  widgets: Record<string, { cssPath: string | null; module: string }>;
  /** Texts by their paths in the lesson. */
  captions: Record<string, string>;
  /** The organization's logo. */
  logo?: { src: string; alt: string };
}

/** Returns a source of the page's widgets: it imports them as modules from blob URLs. */
export function inlineWidgets(widgets: InlineFiles['widgets']): WidgetSource {
  return async (type) => {
    const widget = Object.hasOwn(widgets, type) ? widgets[type] : undefined;
    if (widget === undefined) return null;
    const { cssPath } = widget;
    const url = blobUrl(widget.module, 'text/javascript');
    try {
      const [loaded] = await Promise.all([
        import(url) as Promise<{ default?: Widget }>,
        addStylesheet(cssPath === null ? undefined : new URL(cssPath, document.baseURI).href),
      ]);
      return loaded.default ?? null;
    } finally {
      URL.revokeObjectURL(url);
    }
  };
}

/** Returns a function that replaces captions with blob URLs, because a page from a folder cannot read files. */
export function inlineCaptions(captions: InlineFiles['captions']): (src: string) => string {
  const urls = new Map<string, string>();
  return (src) => {
    const text = Object.hasOwn(captions, src) ? captions[src] : undefined;
    if (text === undefined) return src;
    const url = urls.get(src) ?? blobUrl(text, 'text/vtt');
    urls.set(src, url);
    return url;
  };
}

function blobUrl(text: string, type: string): string {
  return URL.createObjectURL(new Blob([text], { type }));
}
