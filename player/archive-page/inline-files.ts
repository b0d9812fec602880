import { addStylesheet } from '../lesson/archive.ts';
import type { WidgetSource } from '../lesson/widget-loader.ts';
import type { Widget } from '../widget.ts';

/** Files of the archive that the page carries in itself, as worker/exports/index-page.ts writes them. */
export interface InlineFiles {
  /** By type: the text of the module, and where the stylesheet is. */
  widgets: Record<string, { cssPath: string | null; module: string }>;
  /** By path, as the lesson refers to it: the text. */
  captions: Record<string, string>;
}

/** The widgets that the page carries, as modules with an address of the page's own. */
export function inlineWidgets(widgets: InlineFiles['widgets']): WidgetSource {
  return async (type) => {
    const widget = Object.hasOwn(widgets, type) ? widgets[type] : undefined;
    if (widget === undefined) return null;
    const { cssPath } = widget;
    const address = addressOf(widget.module, 'text/javascript');
    try {
      const [loaded] = await Promise.all([
        import(address) as Promise<{ default?: Widget }>,
        addStylesheet(cssPath === null ? undefined : new URL(cssPath, document.baseURI).href),
      ]);
      return loaded.default ?? null;
    } finally {
      URL.revokeObjectURL(address);
    }
  };
}

/** Gives captions that the page carries an address of the page's own: files in a folder may not be read. */
export function inlineCaptions(captions: InlineFiles['captions']): (src: string) => string {
  const addresses = new Map<string, string>();
  return (src) => {
    const text = Object.hasOwn(captions, src) ? captions[src] : undefined;
    if (text === undefined) return src;
    const address = addresses.get(src) ?? addressOf(text, 'text/vtt');
    addresses.set(src, address);
    return address;
  };
}

function addressOf(text: string, type: string): string {
  return URL.createObjectURL(new Blob([text], { type }));
}
