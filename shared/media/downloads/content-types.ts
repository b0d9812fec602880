import { fileTypeFromBuffer } from 'file-type';

/** The number of first bytes that show a file's type (file-type recommends 4,100). */
export const sniffBytes = 4100;

type Family = 'image' | 'audio or video' | 'text' | 'other';

/** Types of audio and video with other prefixes. */
const audioVideo = new Set([
  'application/mp4',
  'application/mxf',
  'application/ogg',
  'application/vnd.ms-asf',
  'application/vnd.rn-realmedia',
  'image/mj2',
]);

/** Playlists are text despite their type names. */
const playlists = /^(audio|application)\/(x-mpegurl|mpegurl|vnd\.apple\.mpegurl|x-scpls)$/;

const textTypes = /^text\/|[/+](json|xml|javascript|ecmascript|yaml|x-subrip)$/;

/** Types that servers send for files of an unknown type. */
const unspecific = new Set(['application/octet-stream', 'binary/octet-stream']);

/** Types that servers without support for SVG send for it. */
const svgAliases = new Set(['application/xml', 'text/xml', 'text/plain']);

const htmlTypes = new Set(['text/html', 'application/xhtml+xml']);

/** Type names of one format, which the first bytes cannot distinguish reliably. */
const sameFormats = [
  ['audio/mp4', 'audio/x-m4a', 'audio/m4a', 'audio/aac', 'audio/x-aac', 'audio/aacp', 'video/mp4'],
  ['video/mp4', 'video/x-m4v', 'application/mp4', 'video/3gpp', 'audio/3gpp', 'video/3gpp2'],
  ['audio/webm', 'video/webm', 'video/matroska', 'video/x-matroska', 'audio/x-matroska'],
  ['audio/ogg', 'video/ogg', 'application/ogg', 'audio/opus'],
  ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  ['audio/mpeg', 'audio/mp3', 'audio/x-mp3', 'audio/x-mpeg'],
  ['audio/flac', 'audio/x-flac'],
  ['audio/aiff', 'audio/x-aiff'],
  ['audio/midi', 'audio/x-midi', 'audio/mid'],
  ['video/mpeg', 'video/mp1s', 'video/mp2p', 'video/mp2t'],
  ['video/vnd.avi', 'video/x-msvideo', 'video/avi', 'video/msvideo'],
  ['video/x-ms-asf', 'video/x-ms-wmv', 'audio/x-ms-wma', 'audio/x-ms-asf', 'application/vnd.ms-asf'],
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['image/png', 'image/apng', 'image/x-png'],
  ['image/x-icon', 'image/vnd.microsoft.icon', 'image/ico'],
  ['image/bmp', 'image/x-ms-bmp', 'image/x-bmp'],
  ['image/heic', 'image/heif', 'image/heic-sequence', 'image/heif-sequence'],
].map((names) => new Set(names));

function familyOf(type: string): Family {
  if (playlists.test(type)) return 'text';
  if (audioVideo.has(type) || /^(audio|video)\//.test(type)) return 'audio or video';
  if (type.startsWith('image/')) return 'image';
  return textTypes.test(type) ? 'text' : 'other';
}

/** Returns a media type without parameters, in lower case; null when it is missing, malformed or unspecific. */
export function concreteType(type: string | null | undefined): string | null {
  const essence = type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(essence) && !unspecific.has(essence) ? essence : null;
}

/**
 * Returns whether the type that a server sent contradicts the declared one. The families are images, audio and video,
 * and other files. For other files, only HTML is a contradiction, because dead links often return it.
 */
export function contradicts(declared: string, named: string): boolean {
  const wanted = concreteType(declared) ?? '';
  const family = familyOf(wanted);
  if (family === 'text' || family === 'other') return named === 'text/html' && !htmlTypes.has(wanted);
  if (wanted === 'image/svg+xml' && svgAliases.has(named)) return false;
  return familyOf(named) !== family;
}

/** The result of comparing a file's first bytes with its declared type. */
export interface Inspection {
  /** The type that contradicts the declared one, or null. */
  contradiction: string | null;
  /** The declared type, or another type of its family that the bytes show, such as JPEG for a declared PNG. */
  mimeType: string;
}

/**
 * Inspects the first {@link sniffBytes} of a file. Formats without a signature, such as captions and SVG, contradict a
 * declared type only if they are HTML pages.
 */
export async function inspect(declared: string, head: Uint8Array): Promise<Inspection> {
  const wanted = concreteType(declared);
  if (wanted === null) return { contradiction: null, mimeType: declared };
  const family = familyOf(wanted);
  const shown = await signatureOf(head, wanted);
  if (shown !== null) {
    const shownFamily = familyOf(shown);
    const isMedia = family === 'image' || family === 'audio or video';
    const differs = isMedia
      ? shownFamily !== family
      : family === 'text' && (shownFamily === 'image' || shownFamily === 'audio or video');
    if (differs) return { contradiction: shown, mimeType: declared };
    return { contradiction: null, mimeType: isMedia && !isSameFormat(wanted, shown) ? shown : declared };
  }
  const isPage = !htmlTypes.has(wanted) && showsHtml(head, family === 'text' || wanted === 'image/svg+xml');
  return { contradiction: isPage ? 'text/html' : null, mimeType: declared };
}

/**
 * Returns the type that a signature shows; null without one, and for text that begins like a signature, such as BMP's
 * "BM".
 */
async function signatureOf(head: Uint8Array, wanted: string): Promise<string | null> {
  // The parser throws for a malformed file, which then shows no type.
  const found = await fileTypeFromBuffer(head.subarray(0, sniffBytes)).catch(() => undefined);
  const type = concreteType(found?.mime);
  if (type === null) return null;
  // The signature of an SVG shows only XML.
  if (type === 'application/xml' && !showsXmlError(head, wanted)) return null;
  const isTextual = familyOf(type) === 'text';
  return !isTextual && familyOf(wanted) === 'text' && isText(head) ? null : type;
}

/**
 * Returns whether XML is an error document instead of the declared media file. `head` may hold only the beginning of an
 * SVG.
 */
function showsXmlError(head: Uint8Array, wanted: string): boolean {
  if (familyOf(wanted) === 'audio or video') return true;
  return (
    familyOf(wanted) === 'image' &&
    wanted !== 'image/svg+xml' &&
    !Buffer.from(head).toString('latin1').includes('<svg')
  );
}

/** Returns whether two type names mean one format. */
export function isSameFormat(one: string, other: string): boolean {
  return one === other || sameFormats.some((names) => names.has(one) && names.has(other));
}

/** Returns whether bytes are UTF-8 text without control characters; the last character may be truncated. */
function isText(head: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    // oxlint-disable-next-line no-control-regex -- the expression searches for them
    return !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
  } catch {
    return false;
  }
}

/** Text before the first tag: a byte order mark, white space, comments, an XML declaration. */
const preamble = /^(?:\u00ef\u00bb\u00bf)?(?:\s+|<!--[^]*?-->|<\?xml[^]*?\?>)*/i;
const page = /^<(?:!doctype\s+html|html)[\s>]/i;
/** From https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type. */
const markup = /^<(?:head|body|script|iframe|title|style|meta|link|h1|div|table|font|p|a|b|br)[\s>/]/i;

/** Returns whether a file is HTML. Text such as Markdown may begin with a tag, so `strict` requires a whole page. */
function showsHtml(head: Uint8Array, strict: boolean): boolean {
  const text = Buffer.from(head).subarray(0, sniffBytes).toString('latin1').replace(preamble, '');
  return page.test(text) || (!strict && markup.test(text));
}
