import { fileTypeFromBuffer } from 'file-type';

/** How many first bytes tell the type of a file (file-type calls 4,100 reasonable). */
export const sniffBytes = 4100;

type Family = 'image' | 'audio or video' | 'other';

/** Types of audio and video that are not named so. */
const audioVideo = new Set([
  'application/mp4',
  'application/mxf',
  'application/ogg',
  'application/vnd.ms-asf',
  'application/vnd.rn-realmedia',
  'image/mj2',
]);

/** What servers say when they do not know. */
const unspecific = new Set(['application/octet-stream', 'binary/octet-stream']);

/** What a server that has not heard of SVG calls it. */
const svgAliases = new Set(['application/xml', 'text/xml', 'text/plain']);

function familyOf(type: string): Family {
  if (audioVideo.has(type) || /^(audio|video)\//.test(type)) return 'audio or video';
  return type.startsWith('image/') ? 'image' : 'other';
}

/** A media type without parameters, in lower case; null when it is missing, malformed or names nothing concrete. */
export function concreteType(type: string | null | undefined): string | null {
  const essence = type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[\w.+-]+\/[\w.+-]+$/.test(essence) && !unspecific.has(essence) ? essence : null;
}

/**
 * Whether a type that the server named cannot be the declared one. Images are told from audio and video and both from
 * the rest; of anything else only a page is known to be wrong: what a dead link often answers with.
 */
export function contradicts(declared: string, named: string): boolean {
  const wanted = concreteType(declared) ?? '';
  const family = familyOf(wanted);
  if (family === 'other') return named === 'text/html' && wanted !== 'text/html';
  if (wanted === 'image/svg+xml' && svgAliases.has(named)) return false;
  return familyOf(named) !== family;
}

/** Whether the first bytes are worth looking at: those of images, audio and video are. */
export function canSniff(declared: string): boolean {
  return familyOf(concreteType(declared) ?? '') !== 'other';
}

/**
 * Looks at the first bytes of a file that {@link canSniff}.
 *
 * @returns the type they show, null when they show none, and whether it contradicts the declared one.
 */
export async function sniff(
  declared: string,
  head: Uint8Array,
): Promise<{ type: string | null; contradicts: boolean }> {
  // A file that breaks the rules of its own format makes the parser throw: then nothing is known about it.
  const found = await fileTypeFromBuffer(head.subarray(0, sniffBytes)).catch(() => undefined);
  const type = concreteType(found?.mime);
  // All that shows of an SVG is that it is XML.
  if (type === 'application/xml' && familyOf(concreteType(declared) ?? '') === 'image') {
    return { type: null, contradicts: false };
  }
  return { type, contradicts: type !== null && contradicts(declared, type) };
}
