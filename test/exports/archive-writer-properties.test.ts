import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { archiveInMemory, archiveOnDisk, expectedEntries, someBytes } from './archives.ts';
import type { TestEntry } from './archives.ts';
import { readEverywhere } from './zip-readers.ts';

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

test('yauzl reads back the names and bytes of any archive', async () => {
  await fc.assert(
    fc.asyncProperty(entries, async (given) => {
      const archive = await fromBufferPromise(await archiveInMemory(given));
      const found: TestEntry[] = [];
      for await (const entry of archive.eachEntry()) {
        const chunks: Buffer[] = [];
        for await (const chunk of await archive.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
        found.push({ name: entry.fileName, bytes: Buffer.concat(chunks) });
      }
      expect(expectedEntries(found)).toEqual(expectedEntries(given));
    }),
    { numRuns: 80 },
  );
});

test('all readers read back any archive', async () => {
  await fc.assert(
    fc.asyncProperty(
      entries.filter((given) => given.length > 0),
      async (given) => {
        const readings = await readEverywhere(await archiveOnDisk(given));
        for (const [reader, found] of Object.entries(readings)) {
          expect({ reader, found }).toEqual({ reader, found: expectedEntries(given) });
        }
      },
    ),
    { numRuns: 8 },
  );
});

test('an archive contains only headers, names and bytes', async () => {
  await fc.assert(
    fc.asyncProperty(entries, async (given) => {
      const expected = given.reduce(
        (sum, { name, bytes }) => sum + 30 + 46 + 2 * Buffer.byteLength(name) + bytes.length,
        22,
      );
      expect((await archiveInMemory(given)).length).toBe(expected);
    }),
    { numRuns: 50 },
  );
});
