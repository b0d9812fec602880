import { fileTypeFromBuffer } from 'file-type';
import { imageSizeOf } from './image-size.ts';

/** The number of first bytes that show a file's type (file-type recommends 4,100). */
export const sniffBytes = 4100;

type Family = 'image' | 'audio or video' | 'svg' | 'pdf' | 'archive' | 'text' | 'other';

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

/** Pictures that may be text or have no signature. */
const unsignedPictures = /^image\/(x-xpixmap|x-xbitmap|x-portable-\w+|vnd\.dxf|x-tga|x-targa)$/;

/** ZIP archives, and other packed formats. */
const archives =
  /^(application\/(zip|gzip|x-7z-compressed|epub\+zip|java-archive|wasm|vnd\.openxmlformats-officedocument\..+)|font\/.+)$/;

const textTypes = /^text\/|[/+](json|xml|javascript|ecmascript|yaml|x-subrip)$/;

/** Types that servers send for files of an unknown type. */
const unspecific = new Set(['application/octet-stream', 'binary/octet-stream']);

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
  if (type === 'image/svg+xml') return 'svg';
  if (type === 'application/pdf') return 'pdf';
  if (unsignedPictures.test(type)) return 'other';
  if (audioVideo.has(type) || /^(audio|video)\//.test(type)) return 'audio or video';
  if (type.startsWith('image/')) return 'image';
  if (archives.test(type)) return 'archive';
  return textTypes.test(type) ? 'text' : 'other';
}

/** Returns a media type without parameters, in lower case; null when it is missing, malformed or unspecific. */
export function concreteType(type: string | null | undefined): string | null {
  const essence = type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(essence) && !unspecific.has(essence) ? essence : null;
}

/** The result of comparing a file's first bytes with its declared type. */
export interface Inspection {
  /** The real type of a file that contradicts the declared one: a media type, or words such as "a Git LFS pointer". Else null. */
  contradiction: string | null;
  /** The declared type, or another type of its family that the bytes show, such as JPEG for a declared PNG. */
  mimeType: string;
}

/**
 * Inspects the first {@link sniffBytes} of a file; fewer bytes are the whole file. The bytes decide. The type that a
 * server sent counts only for formats that bytes do not show, and only if it is HTML, because dead links often return
 * a page.
 */
export async function inspect(
  declared: string,
  head: Uint8Array,
  sentType: string | null = null,
): Promise<Inspection> {
  const text = decodeText(head.subarray(0, sniffBytes)) ?? (await latinText(head));
  if (text !== null && lfsPointer.test(text))
    return { contradiction: 'a Git LFS pointer', mimeType: declared };
  const wanted = concreteType(declared);
  if (wanted === null) return { contradiction: null, mimeType: declared };
  if (text !== null) {
    return { contradiction: contradictionOfText(wanted, text, sentType), mimeType: declared };
  }
  return inspectBinary(wanted, declared, head, sentType);
}

/** Returns what a text is instead of the declared type; null if it may be of that type. */
function contradictionOfText(wanted: string, text: string, sentType: string | null): string | null {
  const family = familyOf(wanted);
  const shown = typeOfText(text);
  switch (family) {
    case 'image':
    case 'audio or video':
    case 'archive':
      return shown;
    case 'pdf':
      return shown === 'application/pdf' ? null : shown;
    case 'svg':
      // Comments and entities may come before the root, which svg.ts checks.
      return shown === 'image/svg+xml' || shown === 'application/xml' ? null : shown;
    case 'text':
    case 'other':
      if (htmlTypes.has(wanted)) return null;
      // Text such as Markdown may begin with a tag.
      if (family === 'text' ? page.test(trimmed(text)) : shown === 'text/html') return 'text/html';
      return sentType === 'text/html' && shown === 'text/plain' ? sentType : null;
  }
}

async function inspectBinary(
  wanted: string,
  declared: string,
  head: Uint8Array,
  sentType: string | null,
): Promise<Inspection> {
  const family = familyOf(wanted);
  const no = (contradiction: string) => ({ contradiction, mimeType: declared });
  const yes = (mimeType = declared) => ({ contradiction: null, mimeType });
  if (family !== 'other' && family !== 'text' && head.every((byte) => byte === 0))
    return no('a file of zero bytes');
  const shown = await signatureOf(head);
  const shownFamily = shown === null ? null : familyOf(shown);
  switch (family) {
    case 'image':
    case 'audio or video':
      if (shown !== null && shownFamily !== family) return no(shown);
      if (head.length < sniffBytes && isCutOff(shown, head)) return no('a damaged file');
      if (shown === null) return yes();
      return yes(isSameFormat(wanted, shown) ? declared : shown);
    case 'svg':
      return shown === 'application/xml' ? yes() : no(shown ?? 'data of an unknown type');
    case 'pdf':
      return shown === null || shown === wanted || isPdf(latin1(head)) ? yes() : no(shown);
    case 'text':
      return shownFamily === 'image' || shownFamily === 'audio or video' ? no(shown ?? '') : yes();
    case 'archive':
    case 'other':
      return shown === null && sentType === 'text/html' && !htmlTypes.has(wanted) ? no(sentType) : yes();
  }
}

/** Returns the type that a signature shows; null without one. */
async function signatureOf(head: Uint8Array): Promise<string | null> {
  // The parser throws for a malformed file, which then shows no type.
  const found = await fileTypeFromBuffer(head.subarray(0, sniffBytes)).catch(() => undefined);
  return concreteType(found?.mime) ?? (isQuickTime(head) ? 'video/quicktime' : null);
}

/** Recognizes the first atoms of old QuickTime files that the library does not know. */
function isQuickTime(head: Uint8Array): boolean {
  return /^(skip|pnot|uuid|moof|styp)$/.test(latin1(head.subarray(4, 8)));
}

/** Returns whether a whole small file ends within its headers. */
function isCutOff(type: string | null, bytes: Uint8Array): boolean {
  if (type === null) return bytes.length < minMediaBytes;
  if (sized.test(type)) return imageSizeOf(bytes) === null;
  if (/^(audio|video)\/(mp4|x-m4a|quicktime|x-m4v)$/.test(type)) return !/moov|moof/.test(latin1(bytes));
  return bytes.length < minMediaBytes;
}

/** Pictures whose size is in their first bytes. */
const sized = /^image\/(a?png|gif|webp|bmp)$/;

/** No signature fits in fewer bytes. */
const minMediaBytes = 8;

/** Returns whether two type names mean one format. */
export function isSameFormat(one: string, other: string): boolean {
  return one === other || sameFormats.some((names) => names.has(one) && names.has(other));
}

/** See https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md. */
const lfsPointer = /^version https?:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\//;

/**
 * Decodes bytes if they are text without control characters: UTF-8 or UTF-16, or else the given encoding. Null for
 * other bytes. The last character may be truncated.
 */
function decodeText(head: Uint8Array, encoding = unicodeOf(head)): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
    // oxlint-disable-next-line no-control-regex -- the expression searches for them
    return /[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Decodes text in Latin-1, which bytes with a signature may look like. */
async function latinText(head: Uint8Array): Promise<string | null> {
  const text = decodeText(head.subarray(0, sniffBytes), 'latin1');
  return text === null || (await signatureOf(head)) === null ? text : null;
}

function unicodeOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0 ? 'utf-16be' : second === 0 ? 'utf-16le' : 'utf-8';
}

/** Text before the first tag: white space, comments, an XML declaration, a document type. */
const preamble = /^(?:\s+|<!--[^]*?-->|<\?[^]*?\?>|<!doctype\s+svg(?:\[[^\]]*\]|[^>[])*>)*/i;
const page = /^<(?:!doctype\s+html|html)[\s>]/i;
/** From https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type. */
const markup =
  /^<(?:!doctype\s+html|html|head|body|script|iframe|title|style|meta|link|h1|div|table|font|p|a|b|br)[\s>/]/i;

/** Returns the type that a text shows; `text/plain` for any other text. */
function typeOfText(text: string): string {
  if (isPdf(text)) return 'application/pdf';
  const start = trimmed(text);
  if (/^<(?:\w+:)?svg[\s>/]/i.test(start)) return 'image/svg+xml';
  if (markup.test(start)) return 'text/html';
  if (/^\s*<[?!a-z]/i.test(text)) return 'application/xml';
  if (/^[{[]\s*(["{[\]}\d-]|true|false|null)/.test(start)) return 'application/json';
  return /^WEBVTT(?:\s|$)/.test(start) ? 'text/vtt' : 'text/plain';
}

function trimmed(text: string): string {
  return text.replace(preamble, '');
}

/** The header of a PDF may follow other bytes. */
function isPdf(text: string): boolean {
  return text.slice(0, 1024).includes('%PDF-');
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
