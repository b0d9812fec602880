import { decodeText } from '../platform/decode-text.ts';

/** Five hours of speech. */
export const maxCaptionsBytes = 512 * 1024;

/** Says why a file is not captions that Lectern can read. */
export class CaptionsFault extends Error {
  override readonly name = 'CaptionsFault';
}

/** Captions that browsers show. */
export interface ReadCaptions {
  bytes: Uint8Array;
  /** The changes, for authors; empty for a file that keeps its bytes. */
  changes: string[];
}

/** The type of all captions that leave Lectern. */
export const captionsType = 'text/vtt';

export function isCaptions(mimeType: string): boolean {
  return mimeType.toLowerCase() === captionsType;
}

/** Types that files of captions are declared with. A text may be captions, too: the lesson shows its use. */
export const otherCaptionTypes = new Set([
  'application/octet-stream',
  'application/srt',
  'application/vtt',
  'application/x-srt',
  'application/x-subrip',
  'text/plain',
  'text/srt',
  'text/webvtt',
  'text/x-srt',
  'text/x-subrip',
]);

/**
 * Reads captions, WebVTT or SubRip (SRT) in any common encoding, and returns WebVTT in UTF-8. Browsers show nothing of
 * SubRip, of WebVTT without its first line, and of cues with a comma in their times. Such files are repaired; others
 * keep their bytes.
 *
 * @throws {CaptionsFault} for other files
 */
export function readCaptions(bytes: Uint8Array): ReadCaptions {
  if (bytes.length > maxCaptionsBytes)
    throw new CaptionsFault(`are larger than ${maxCaptionsBytes / 1024} KiB`);
  const decodedText = decodeText(bytes);
  if (decodedText === null) throw new CaptionsFault('are not text');
  const { text: decoded, encoding } = decodedText;
  const changes = encoding === 'UTF-8' ? [] : [`were converted from ${encoding} to UTF-8`];
  const lines = decoded.replace(/\r\n?/g, '\n');
  const text = lines.trimStart();
  const header = /^WEBVTT(?=[ \t\n]|$)/i.exec(text)?.[0];
  if (header !== undefined) {
    if (text !== lines) changes.push('had blank lines before WEBVTT');
    if (header !== 'WEBVTT') changes.push('had WEBVTT in lower case');
    const repaired = repairTimings(text.replace(header, 'WEBVTT'));
    if (repaired.slice(header.length) !== text.slice(header.length)) changes.push('had malformed times');
    return changes.length === 0 ? { bytes, changes } : { bytes: Buffer.from(repaired), changes };
  }
  if (!timingLine.test(text)) throw new CaptionsFault('are neither WebVTT nor SubRip (SRT)');
  // A comma in the times, or a number before them, shows SubRip.
  const isSubRip = /^\d+[ \t]*\n/.test(text) || /^[\d:]+,\d+[ \t]*-->/m.test(text);
  changes.push(isSubRip ? 'were converted from SubRip (SRT) to WebVTT' : 'had no first line WEBVTT');
  const converted = isSubRip ? convertSubRip(text) : repairTimings(text);
  return { bytes: Buffer.from(`WEBVTT\n\n${converted}`), changes };
}

const time = String.raw`(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?`;
const timing = new RegExp(String.raw`^[ \t]*${time}[ \t]*-->[ \t]*${time}(?:[ \t]+([^\n]*))?$`);
const timingLine = new RegExp(timing.source, 'm');

interface Timing {
  times: string;
  /** The text after the times. */
  settings: string;
}

/** Reads a line with the times of a cue; null for other lines. */
function readTiming(line: string): Timing | null {
  const found = timing.exec(line);
  if (found === null) return null;
  const [, startHours, startMinutes, startSeconds, startMs, endHours, endMinutes, endSeconds, endMs] = found;
  const start = writeTime(startHours, startMinutes, startSeconds, startMs);
  const end = writeTime(endHours, endMinutes, endSeconds, endMs);
  return { times: `${start} --> ${end}`, settings: found[9]?.trim() ?? '' };
}

function writeTime(hours: string | undefined, minutes = '', seconds = '', milliseconds = ''): string {
  const before = hours === undefined ? '' : `${hours.padStart(2, '0')}:`;
  return `${before}${minutes.padStart(2, '0')}:${seconds.padStart(2, '0')}.${milliseconds.padEnd(3, '0')}`;
}

const validTiming =
  /^(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}[ \t]+-->[ \t]+(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}(?:[ \t]|$)/;

function repairTimings(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      if (!line.includes('-->') || validTiming.test(line)) return line;
      const found = readTiming(line);
      return found === null ? line : `${found.times} ${found.settings}`.trim();
    })
    .join('\n');
}

/** Returns the cues of SubRip as WebVTT. Numbers and positions go; the text keeps bold, italic and underlined. */
function convertSubRip(text: string): string {
  const cues: { times: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const found = readTiming(line);
    if (found !== null) {
      // The number of this cue.
      const before = cues.at(-1)?.lines;
      if (/^\s*\d+\s*$/.test(before?.at(-1) ?? '')) before?.pop();
      cues.push({ times: found.times, lines: [] });
    } else {
      cues.at(-1)?.lines.push(convertText(line));
    }
  }
  return cues
    .map(({ times, lines }) => [times, ...lines.filter((line) => line.trim() !== '')].join('\n'))
    .map((cue) => `${cue}\n`)
    .join('\n');
}

function convertText(line: string): string {
  return line
    .replace(/\{\\[^{}]*\}/g, '')
    .replace(/<\/?font\b[^<>]*>/gi, '')
    .replace(/&(?!(?:amp|lt|gt|nbsp|lrm|rlm|#\d+);)/g, '&amp;')
    .replace(/<(?!\/?[biu]>)/gi, '&lt;')
    .replaceAll('-->', '--&gt;')
    .replace(/<(\/?)([BIU])>/g, (_tag, end: string, name: string) => `<${end}${name.toLowerCase()}>`);
}
