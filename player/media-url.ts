import { parseUrl } from '../shared/platform/parse-url.ts';
import { text } from './props.ts';

const loadableData = /^data:((image|audio|video)\/|text\/vtt[;,])/i;

/**
 * Checks whether a media element may load a URL. Other schemes are unresolved references, or attempts to run a script. A
 * page from a folder loads files of its own computer only: for one in a network, Windows would log in to a stranger's.
 */
export function isPlayable(url: string): boolean {
  const parsed = parseUrl(url, document.baseURI);
  if (parsed === null) return false;
  const { protocol, host, pathname } = parsed;
  if (protocol === 'data:') return loadableData.test(url.trim());
  if (protocol === 'file:') return host === '' && !/^\/(?:[\\/]|%2f|%5c)/i.test(pathname);
  return /^(?:https?|blob):$/.test(protocol);
}

/** Returns the URL of a media file that a block's props name; undefined if there is none or it is not playable. */
export function mediaUrl(context: { resolveMedia(src: string): string }, prop: unknown): string | undefined {
  const src = text(prop);
  if (!src) return undefined;
  const url = context.resolveMedia(src);
  return isPlayable(url) ? url : undefined;
}

/** Returns the URL of a file of a hosted lesson; any other reference unchanged. @param content the folder of its files */
export function hostedMediaUrl(content: string, src: string): string {
  // The browser needs the fragment, such as the second at which a video starts.
  const [, id, fragment = ''] = /^media:([^#]+)(#.*)?$/i.exec(src) ?? [];
  return id === undefined ? src : `${content}media/${encodeURIComponent(id.toLowerCase())}${fragment}`;
}
