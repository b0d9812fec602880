import { element } from './dom.ts';
import { mediaUrl } from './media-url.ts';
import { record, text } from './props.ts';
import type { WidgetContext } from './widget.ts';
import { message } from '../shared/i18n/message.ts';
import { parseUrl } from '../shared/platform/parse-url.ts';

/** The captions of a video or audio file in one language. */
export interface Captions {
  url: string;
  /** A BCP 47 tag. */
  language: string;
  /** Shown in the menu. */
  label: string;
}

/**
 * Reads the prop `captions`: the URL of a WebVTT file in the lesson's language, or a list of `{src, language, label}`.
 * Skips entries without a URL.
 */
export function readCaptions(value: unknown, context: WidgetContext): Captions[] {
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  return entries.flatMap((entry) => {
    const { src, language, label } = record(typeof entry === 'object' ? entry : { src: entry });
    const url = mediaUrl(context, src);
    if (url === undefined) return [];
    const tag = text(language) || context.language;
    const name = text(label) || (Array.isArray(value) ? languageName(tag) : undefined);
    return { url, language: tag, label: name ?? message(context.language, 'widget.captions') };
  });
}

/**
 * Loads a video or audio file and its captions. Captions in the lesson's language, or else the first ones, are on at
 * the start.
 *
 * @param on.mediumFailed called when the file fails to load
 * @param on.captionsFailed called when captions fail to load; they disappear from the menu
 * @returns the tracks of the captions, in their order
 */
export function loadMedium(
  medium: HTMLMediaElement,
  src: string,
  captions: readonly Captions[],
  context: WidgetContext,
  on: { mediumFailed: () => void; captionsFailed: () => void },
): HTMLTrackElement[] {
  const wanted = baseLanguage(context.language);
  const first = captions.find(({ language }) => baseLanguage(language) === wanted) ?? captions[0];
  const tracks = captions.map((entry) => {
    const track = element('track', {
      kind: 'captions',
      src: entry.url,
      srclang: entry.language,
      label: entry.label,
      default: entry === first,
    });
    track.addEventListener('error', () => {
      track.remove();
      on.captionsFailed();
    });
    return track;
  });
  if (captions.some(({ url }) => isCrossOrigin(url))) medium.crossOrigin = 'anonymous';
  medium.append(...tracks);
  medium.addEventListener('error', () => {
    // A server without CORS lets other origins play its files, but not read them. The player then plays without
    // captions.
    if (medium.crossOrigin === null) return on.mediumFailed();
    medium.crossOrigin = null;
    medium.load();
  });
  medium.src = src;
  return tracks;
}

/**
 * Checks whether a URL's origin differs from the page's. Browsers read such captions only in CORS mode. To a sandboxed
 * page, its own server is another origin, too.
 */
function isCrossOrigin(src: string): boolean {
  const url = parseUrl(src, document.baseURI);
  return url !== null && url.protocol.startsWith('http') && url.origin !== globalThis.origin;
}

function baseLanguage(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}

/** Returns a language's own name for itself; undefined for an invalid tag. */
function languageName(tag: string): string | undefined {
  try {
    return new Intl.DisplayNames([tag], { type: 'language', fallback: 'none' }).of(tag);
  } catch {
    return undefined;
  }
}
