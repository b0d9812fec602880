import { text } from './props.ts';
import type { WidgetContext } from './widget.ts';

const LOADABLE_SCHEMES = /^(https?|file|blob)$/i;
const LOADABLE_DATA = /^data:((image|audio|video)\/|text\/vtt[;,])/i;

/**
 * True for an address that a media element may load: on the web, beside the page, or inside it. Any other
 * scheme is a reference that nobody could resolve, or an attempt at running script.
 */
export function isPlayable(address: string): boolean {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(address)?.[1];
  return scheme === undefined || LOADABLE_SCHEMES.test(scheme) || LOADABLE_DATA.test(address.trim());
}

/**
 * The address of a medium named in a block's props.
 *
 * @returns undefined when the prop names none, or names one that cannot be resolved
 */
export function mediaAddress(context: WidgetContext, src: unknown): string | undefined {
  const wanted = text(src);
  if (!wanted) return undefined;
  const address = context.resolveMedia(wanted);
  return isPlayable(address) ? address : undefined;
}
