import { fileTypeFromBuffer } from 'file-type';

/** How many first bytes tell the type of a file (file-type calls 4,100 reasonable). */
export const sniffBytes = 4100;

type Family = 'image' | 'audio or video' | 'text' | 'other';

/** Types of audio and video that are not named so. */
const audioVideo = new Set([
  'application/mp4',
  'application/mxf',
  'application/ogg',
  'application/vnd.ms-asf',
  'application/vnd.rn-realmedia',
  'image/mj2',
]);

/** Playlists are text, whatever their names say. */
const playlists = /^(audio|application)\/(x-mpegurl|mpegurl|vnd\.apple\.mpegurl|x-scpls)$/;

const textTypes = /^text\/|[/+](json|xml|javascript|ecmascript|yaml|x-subrip)$/;

/** What servers say when they do not know. */
const unspecific = new Set(['application/octet-stream', 'binary/octet-stream']);

/** What a server that has not heard of SVG calls it. */
const svgAliases = new Set(['application/xml', 'text/xml', 'text/plain']);

const htmlTypes = new Set(['text/html', 'application/xhtml+xml']);

/** Names of one format: the bytes do not tell them apart, or tell more than matters. */
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

/** A media type without parameters, in lower case; null when it is missing, malformed or names nothing concrete. */
export function concreteType(type: string | null | undefined): string | null {
  const essence = type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(essence) && !unspecific.has(essence) ? essence : null;
}

/**
 * Returns whether a type that the server named cannot be the declared one. Images, audio or video, and the rest are
 * told apart; of the rest only HTML is known to be wrong, which dead links often answer with.
 */
export function contradicts(declared: string, named: string): boolean {
  const wanted = concreteType(declared) ?? '';
  const family = familyOf(wanted);
  if (family === 'text' || family === 'other') return named === 'text/html' && !htmlTypes.has(wanted);
  if (wanted === 'image/svg+xml' && svgAliases.has(named)) return false;
  return familyOf(named) !== family;
}

/** What the first bytes of a file say about its declared type. */
export interface Inspection {
  /** The type that contradicts the declared one; null where none does. */
  contradiction: string | null;
  /** The declared type, or another one of its family where the bytes are of that: JPEG that is declared as PNG. */
  mimeType: string;
}

/**
 * Looks at the first {@link sniffBytes} of a file. Formats without a signature, such as captions, SVG and other text,
 * contradict nothing, unless they are pages of HTML.
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

/** The type that a signature shows; null for none, and for what text begins with by chance, such as the BM of BMP. */
async function signatureOf(head: Uint8Array, wanted: string): Promise<string | null> {
  // A file that breaks the rules of its own format makes the parser throw: then nothing is known about it.
  const found = await fileTypeFromBuffer(head.subarray(0, sniffBytes)).catch(() => undefined);
  const type = concreteType(found?.mime);
  if (type === null) return null;
  // All that shows of an SVG is that it is XML.
  if (type === 'application/xml' && !showsXmlError(head, wanted)) return null;
  const isTextual = familyOf(type) === 'text';
  return !isTextual && familyOf(wanted) === 'text' && isText(head) ? null : type;
}

/** Whether XML is no SVG where media are declared: an error document. Of an SVG only the beginning may be here. */
function showsXmlError(head: Uint8Array, wanted: string): boolean {
  if (familyOf(wanted) === 'audio or video') return true;
  return (
    familyOf(wanted) === 'image' &&
    wanted !== 'image/svg+xml' &&
    !Buffer.from(head).toString('latin1').includes('<svg')
  );
}

function isSameFormat(one: string, other: string): boolean {
  return one === other || sameFormats.some((names) => names.has(one) && names.has(other));
}

/** Whether bytes are text in UTF-8 without control characters; the last character may be cut off. */
function isText(head: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    // eslint-disable-next-line no-control-regex -- they are what is looked for
    return !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
  } catch {
    return false;
  }
}

/** What may stand before the first tag: a byte order mark, white space, comments, an XML declaration. */
const preamble = /^(?:\u00ef\u00bb\u00bf)?(?:\s+|<!--[^]*?-->|<\?xml[^]*?\?>)*/i;
const page = /^<(?:!doctype\s+html|html)[\s>]/i;
/** As https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type has them. */
const markup = /^<(?:head|body|script|iframe|title|style|meta|link|h1|div|table|font|p|a|b|br)[\s>/]/i;

/** Whether a file is HTML. Honest text may begin with a tag, as Markdown does; a `strict` look wants a whole page. */
function showsHtml(head: Uint8Array, strict: boolean): boolean {
  const text = Buffer.from(head).subarray(0, sniffBytes).toString('latin1').replace(preamble, '');
  return page.test(text) || (!strict && markup.test(text));
}
