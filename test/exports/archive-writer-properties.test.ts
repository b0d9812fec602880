import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { archiveInMemory, expectedEntries, someBytes } from './archives.ts';
import type { TestEntry } from './archives.ts';

/** A path segment that every file system and reader accepts unchanged. */
const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((text) => !/[/\\:\p{Cc}\p{Cs}]/u.test(text) && !/^\.+$/.test(text) && !text.includes('\uFFFD'));
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));

const entries = fc
  .uniqueArray(fc.record({ name: path, size: fc.nat(70_000), seed: fc.nat(1000) }), {
    maxLength: 12,
    selector: ({ name }) => name,
  })
  .map((found) => found.map(({ name, size, seed }): TestEntry => ({ name, bytes: someBytes(size, seed) })));

test('any archive contains only headers, names and bytes, and yauzl reads back the names and bytes', async () => {
  await fc.assert(
    fc.asyncProperty(entries, async (given) => {
      const bytes = await archiveInMemory(given);
      const sizes = given.map((entry) => 30 + 46 + 2 * Buffer.byteLength(entry.name) + entry.bytes.length);
      expect(bytes.length).toBe(sizes.reduce((sum, size) => sum + size, 22));
      const archive = await fromBufferPromise(bytes);
      const found: TestEntry[] = [];
      for await (const entry of archive.eachEntry()) {
        const chunks: Buffer[] = [];
        for await (const chunk of await archive.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
        found.push({ name: entry.fileName, bytes: Buffer.concat(chunks) });
      }
      expect(expectedEntries(found)).toEqual(expectedEntries(given));
    }),
    { numRuns: 40, examples: [[[]]] },
  );
});
