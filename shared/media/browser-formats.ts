import type { MediaKind } from '../lessons/html-media.ts';
import { extensionOf } from './file-formats.ts';

/** Formats that the browsers of docs/player.md show in a picture, a video or a recording. */
const shownTypes: Record<Exclude<MediaKind, 'captions'>, RegExp> = {
  image:
    /^image\/(?:apng|avif|bmp|gif|jpe?g|pjpeg|png|svg\+xml|vnd\.microsoft\.icon|webp|x-(?:icon|png|bmp|ms-bmp))$/,
  video:
    /^(?:video\/(?:mp4|ogg|quicktime|webm|x-m4v|3gpp2?)|application\/(?:mp4|ogg)|audio\/(?:mp4|x-m4a|m4a|ogg|webm))$/,
  audio:
    /^(?:audio\/(?:aacp?|x-aac|flac|x-flac|m4a|x-m4a|mp4|mpe?g|mp3|x-mp3|x-mpeg|ogg|opus|vnd\.wave|wave?|webm|x-wav|3gpp)|video\/(?:mp4|ogg|quicktime|webm|x-m4v|3gpp2?)|application\/(?:mp4|ogg))$/,
};

/** Formats to convert a file to, as sentences. */
const advice: Record<Exclude<MediaKind, 'captions'>, string> = {
  image: 'Convert it to JPEG, PNG, WebP or SVG',
  video: 'Convert it to MP4 with H.264 and AAC',
  audio: 'Convert it to MP3 or to M4A with AAC',
};

/** Codecs of MP4 and QuickTime files that all browsers play. */
const playedCodecs = /^(?:avc[1-4]|av01|vp0[89]|mp4a|Opus|fLaC|\.mp3)$/;

/** Names of others, by the beginning of their four-character codes. */
const codecNames: readonly [RegExp, string][] = [
  [/^(?:hvc|hev|dvh)/, 'HEVC (H.265)'],
  [/^ap(?:c|4)/, 'Apple ProRes'],
  [/^mp4v/, 'MPEG-4 Part 2'],
  [/^(?:mpeg|m[12]v1|mx|xd)/, 'MPEG-2'],
  [/^(?:jpeg|mjp)/, 'Motion JPEG'],
  [/^[sh]263/, 'H.263'],
  [/^vvc|^vvi/, 'VVC (H.266)'],
  [/^ac-[34]/, 'Dolby Digital (AC-3 or AC-4)'],
  [/^ec-3/, 'Dolby Digital Plus (E-AC-3)'],
  [/^dts/, 'DTS'],
  [/^alac/, 'Apple Lossless'],
  [/^sa[mw]/, 'AMR'],
  [/^enc[av]/, 'encryption'],
];

/** The bytes and codes that show the codecs of a file. */
export interface FileCodecs {
  /** The first bytes. */
  head: Buffer;
  /** The codes of an MP4 or QuickTime file. */
  codes: ReadonlySet<string>;
}

/**
 * Says why browsers do not show a file, and what to do; null for files that they show, and for unknown formats.
 *
 * @param codecs undefined for a file that is not here
 */
export function browserFault(
  use: Exclude<MediaKind, 'captions'>,
  mimeType: string,
  codecs?: FileCodecs,
): string | null {
  const type = mimeType.toLowerCase();
  if (extensionOf(type) === 'bin') return null;
  const fault = shownTypes[use].test(type)
    ? codecs && codecFault(type, codecs)
    : `${type}, which browsers do not show as ${use === 'image' ? 'a picture' : use}`;
  return fault === undefined ? null : `is ${fault}. ${advice[use]}`;
}

function codecFault(type: string, { head, codes }: FileCodecs): string | undefined {
  const start = head.toString('latin1');
  if (/\/(?:ogg|webm)$/.test(type)) {
    if (start.includes('\x80theora')) return 'Ogg with Theora, which browsers do not play';
    return start.slice(0, 80).includes('matroska') ? 'Matroska, which not all browsers play' : undefined;
  }
  if (/wav/.test(type)) return waveFault(head);
  const unplayed = [...codes].filter((code) => !playedCodecs.test(code)).map(nameOf);
  return unplayed.length === 0
    ? undefined
    : `a file with ${[...new Set(unplayed)].join(' and ')}, which not all browsers play`;
}

function nameOf(code: string): string {
  const known = codecNames.find(([pattern]) => pattern.test(code));
  return known === undefined ? `the codec ${JSON.stringify(code)}` : known[1];
}

/** Codes of WAVE formats that browsers play: PCM, floating point, A-law, μ-law, and those with a further code. */
const playedWaves = new Set([1, 3, 6, 7, 0xfffe]);

function waveFault(head: Buffer): string | undefined {
  const format = head.indexOf('fmt ', 0, 'latin1');
  if (format < 0 || format + 10 > head.length) return undefined;
  const code = head.readUInt16LE(format + 8);
  return playedWaves.has(code)
    ? undefined
    : `a WAVE file with compression ${code}, which browsers do not play`;
}
