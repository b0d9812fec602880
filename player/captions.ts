import { element } from './dom.ts';
import { mediaAddress } from './media.ts';
import { record, text } from './props.ts';
import type { WidgetContext } from './widget.ts';
import { message } from '../shared/i18n/message.ts';

/** The captions of a medium in one language. */
export interface Captions {
  address: string;
  /** A BCP 47 tag. */
  language: string;
  /** What the reader chooses them by. */
  label: string;
}

/**
 * Reads the prop `captions`: the address of a WebVTT file, which is in the lesson's language, or a list of
 * `{src, language, label}`. Entries without an address are left out.
 */
export function readCaptions(value: unknown, context: WidgetContext): Captions[] {
  const entries: unknown[] = Array.isArray(value) ? value : [value];
  return entries.flatMap((entry) => {
    const { src, language, label } = record(typeof entry === 'object' ? entry : { src: entry });
    const address = mediaAddress(context, src);
    if (address === undefined) return [];
    const spoken = text(language) || context.language;
    const name = text(label) || (Array.isArray(value) ? languageName(spoken) : undefined);
    return { address, language: spoken, label: name ?? message(context.language, 'widget.captions') };
  });
}

/**
 * Loads a video or an audio and its captions. Those in the lesson's language, else the first ones, are on from the
 * start.
 *
 * @param on.mediumFailed called when the medium cannot be loaded
 * @param on.captionsFailed called when captions cannot be loaded, which then leave the medium's menu
 * @returns the captions' tracks, in their order
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
      src: entry.address,
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
  if (captions.some(({ address }) => isForeign(address))) medium.crossOrigin = 'anonymous';
  medium.append(...tracks);
  medium.addEventListener('error', () => {
    // A server that does not let other origins read its files still lets them play: better without captions.
    if (medium.crossOrigin === null) return on.mediumFailed();
    medium.crossOrigin = null;
    medium.load();
  });
  medium.src = src;
  return tracks;
}

/**
 * True for an address on another origin than the page's. Captions from there are read only in CORS mode, and
 * a sandboxed page is a stranger to its own server too.
 */
function isForeign(address: string): boolean {
  if (!URL.canParse(address, document.baseURI)) return false;
  const url = new URL(address, document.baseURI);
  return url.protocol.startsWith('http') && url.origin !== globalThis.origin;
}

function baseLanguage(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}

/** As its speakers call it; undefined for what is no language tag. */
function languageName(tag: string): string | undefined {
  try {
    return new Intl.DisplayNames([tag], { type: 'language', fallback: 'none' }).of(tag);
  } catch {
    return undefined;
  }
}
