import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOf, GzipText, joinGzip } from '../../shared/platform/gzip-text.ts';

const someText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc
    .tuple(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 9000 }))
    .map(([text, times]) => text.repeat(times)),
);
const piece = fc.record({ text: someText, isConstant: fc.boolean() });

test('joined texts, constant or not, are one valid gzip file of their concatenation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      const texts = await Promise.all(
        pieces.map(async ({ text, isConstant }) => (isConstant ? GzipText.of(text) : Buffer.from(text))),
      );
      const whole = Buffer.from(pieces.map(({ text }) => text).join(''));
      // gunzip checks the checksum and the length.
      expect(gunzipSync(Buffer.concat(await joinGzip(texts))).equals(whole)).toBe(true);
      expect(bytesOf(texts)).toBe(whole.length);
    }),
    { numRuns: 60 },
  );
});

test('a constant text is expanded again, at once and as a stream', async () => {
  const text = await GzipText.of('Tides, and the Moon. '.repeat(10_000));
  const expanded = await text.expand();
  const streamed = await text.stream().toArray();
  expect(Buffer.concat(streamed as Buffer[]).equals(expanded)).toBe(true);
  expect(gunzipSync(text.file).equals(expanded)).toBe(true);
  expect(text.file.length).toBeLessThan(expanded.length / 100);
});
