import { text } from './props.ts';
import type { WidgetContext } from './widget.ts';

const loadableSchemes = /^(https?|file|blob)$/i;
const loadableData = /^data:((image|audio|video)\/|text\/vtt[;,])/i;

/**
 * Checks whether a media element may load a URL. Other schemes are unresolved references, or attempts to run a script.
 */
export function isPlayable(url: string): boolean {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(url)?.[1];
  return scheme === undefined || loadableSchemes.test(scheme) || loadableData.test(url.trim());
}

/** Returns the URL of a media file that a block's props name; undefined if there is none or it is not playable. */
export function mediaUrl(context: WidgetContext, prop: unknown): string | undefined {
  const src = text(prop);
  if (!src) return undefined;
  const url = context.resolveMedia(src);
  return isPlayable(url) ? url : undefined;
}
