import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { archiveInMemory, expectedEntries } from './archives.ts';
import type { TestEntry } from './archives.ts';
import { zipReaders } from './zip-readers.ts';
import { temporaryFolder } from '../support/folders.ts';

/** A plain ZIP counts its entries in 16 bits; from 65,535 entries on, ZIP64 is required. */
function manyEntries(count: number): TestEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `media/${index}`,
    bytes: Buffer.from(`${index}`),
  }));
}

const zip64Locator = Buffer.from('PK\x06\x07', 'latin1');

test.each([
  { count: 65_534, zip64: false },
  { count: 65_535, zip64: true },
])('the entry count is right for $count entries, with ZIP64 records: $zip64', async ({ count, zip64 }) => {
  const bytes = await archiveInMemory(manyEntries(count));
  expect((await fromBufferPromise(bytes)).entryCount).toBe(count);
  expect(bytes.subarray(-42, -38).equals(zip64Locator)).toBe(zip64);
});

describe('of an archive with 65,536 entries', () => {
  const entries = manyEntries(65_536);
  let archive: Buffer;
  beforeAll(async () => {
    archive = await archiveInMemory(entries);
  });

  // yauzl opens a stream for each entry, which takes too long for every entry.
  const fastReaders = zipReaders.filter(({ name }) => name !== 'yauzl');

  describe.each(fastReaders)('$name', ({ available, read }) => {
    test.skipIf(!available)('finds all with their bytes', async () => {
      const path = join(await temporaryFolder(), 'archive.zip');
      await writeFile(path, archive);
      expect(await read(path)).toEqual(expectedEntries(entries));
    });
  });

  test('yauzl finds all and reads the last', async () => {
    const names: string[] = [];
    let last = '';
    const zip = await fromBufferPromise(archive);
    expect(zip.entryCount).toBe(65_536);
    for await (const entry of zip.eachEntry()) {
      names.push(entry.fileName);
      if (names.length < entries.length) continue;
      for await (const chunk of await zip.openReadStreamPromise(entry)) last += String(chunk);
    }
    expect(names).toEqual(entries.map(({ name }) => name));
    expect(last).toBe('65535');
    expect(archive.subarray(-42, -38).equals(zip64Locator)).toBe(true);
  });
});
