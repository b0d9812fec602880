import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { readCaptions } from '../../shared/media/captions.ts';
import { longestBlock, maxBlockMs } from '../support/longest-block.ts';
import { useBrowser } from '../support/use.ts';

const browser = useBrowser();
let page: Page | undefined;

const srt = '1\n00:00:01,000 --> 00:00:02,500\nÄpfel & Birnen\n\n2\n00:01:02,000 --> 00:01:03,000\nTwo\n';
const vtt = 'WEBVTT\n\n00:01.000 --> 00:02.500\nÄpfel &amp; Birnen\n\n01:02.000 --> 01:03.000\nTwo\n';
const cues = ['1-2.5 Äpfel & Birnen', '62-63 Two'];

const fromSubRip = 'were converted from SubRip (SRT) to WebVTT';
const to = (encoding: string) => `were converted from ${encoding} to UTF-8`;
const utf16 = (text: string) => Buffer.from(text, 'utf16le');

/** A function in the browser: resolves to the cues of a URL, each with start, end and text. */
const readCues = `(src) => new Promise((resolve) => {
  const track = document.createElement('track');
  track.addEventListener('error', () => resolve(['refused']));
  track.addEventListener('load', () => resolve([...track.track.cues].map((cue) =>
    cue.startTime + '-' + cue.endTime + ' ' + cue.getCueAsHTML().textContent)));
  track.track.mode = 'hidden';
  track.src = src;
  document.body.appendChild(document.createElement('video')).append(track);
})`;

/** Returns the cues that a browser reads from a file. */
async function cuesOf(bytes: Uint8Array): Promise<string[]> {
  page ??= await browser.newPage();
  const src = `data:text/vtt;base64,${Buffer.from(bytes).toString('base64')}`;
  return page.evaluate<string[]>(`(${readCues})(${JSON.stringify(src)})`);
}

test.each<[string, string | Buffer, string[]]>([
  ['WebVTT', vtt, []],
  ['WebVTT with CRLF', vtt.replaceAll('\n', '\r\n'), []],
  ['a blank line before WEBVTT', `\n${vtt}`, ['had blank lines before WEBVTT']],
  ['a missing first line', vtt.slice(8), ['had no first line WEBVTT']],
  ['commas in WebVTT', vtt.replaceAll(/(\d\d)\.(\d\d\d)/g, '$1,$2'), ['had malformed times']],
  ['WebVTT in UTF-16', utf16(`\ufeff${vtt}`), [to('UTF-16')]],
  ['WebVTT in big-endian UTF-16', utf16(`\ufeff${vtt}`).swap16(), [to('UTF-16')]],
  ['WebVTT in Windows-1252', Buffer.from(vtt, 'latin1'), [to('Windows-1252')]],
  ['SubRip', srt, [fromSubRip]],
  ['SubRip with CRLF', srt.replaceAll('\n', '\r\n'), [fromSubRip]],
  ['SubRip in UTF-16', utf16(`\ufeff${srt}`), [to('UTF-16'), fromSubRip]],
  ['SubRip without numbers', srt.replaceAll(/^\d\n/gm, ''), [fromSubRip]],
  [
    'SubRip under the first line of WebVTT',
    `WEBVTT\n\n${srt.replace('&', '&amp;')}`,
    ['had malformed times'],
  ],
])('a browser shows the cues of %s, with a report', async (_title, file, changes) => {
  const bytes = Buffer.from(file);
  const read = readCaptions(bytes);
  expect(read.changes).toEqual(changes);
  expect(await cuesOf(read.bytes)).toEqual(cues);
  if (changes.length === 0) expect(read.bytes).toBe(bytes);
  else expect(readCaptions(read.bytes).changes).toEqual([]);
});

test('what looks like markup or a number in SubRip stays text', async () => {
  const { bytes } = readCaptions(
    Buffer.from(
      '1\n00:00:01,000 --> 00:00:02,000\na < b > c --> d\n42\n\n\n2\n00:00:03,000 --> 00:00:04,000\n&lt; <x>\n',
    ),
  );
  expect(await cuesOf(bytes)).toEqual(['1-2 a < b > c --> d\n42', '3-4 < <x>']);
});

describe('a file is rejected that is', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['text', 'Hello', /neither/],
    ['empty', ' \n', /neither/],
    ['JSON', '{"events":[{"tStartMs":0}]}', /neither/],
    ['TTML', '<tt><p begin="0s" end="1s">Hello</p></tt>', /neither/],
    ['LRC', '[00:12.00]Line', /neither/],
    ['binary', Buffer.from([0xff, 0xfb, 0, 0, 1, 2]), /not text/],
    ['too large', `WEBVTT\n${'x'.repeat(512 * 1024)}`, /512 KiB/],
  ])('%s', (_title, file, message) => {
    expect(() => readCaptions(Buffer.from(file))).toThrow(message);
  });
});

const many = (text: string) => text.repeat(Math.floor((512 * 1024 - 100) / text.length));

test.each<[what: string, file: string]>([
  // With quadratic time, this takes hours.
  ['a line of spaces', `WEBVTT\n\n0:01 --> 0:02${many(' ')}\u2028x`],
  ['line ends', `WEBVTT\n\n${many('\r')}`],
  ['malformed times', `WEBVTT\n\n${many('0:01 --> 0:02\n')}`],
  ['SubRip', many('1\n00:00:01,000 --> 00:00:02,000\na\n\n')],
])('the largest captions, of nothing but %s, are read in a moment', async (_what, file) => {
  const read = () => Promise.resolve(readCaptions(Buffer.from(file)));
  expect(await longestBlock(read)).toBeLessThan(maxBlockMs);
});
