import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { archiveInMemory, archiveOnDisk, expectedEntries, someBytes } from './archives.ts';
import { zipReaders } from './zip-readers.ts';

const names = [
  'plain.txt',
  'a folder/with spaces/a b  c.txt',
  'übung-v1/Größe.png',
  'レッスン/第一章.json',
  'درس/صورة.jpg',
  'emoji/🎓👩‍🏫 lesson.png',
  'quotes/"double" and \'single\' & <angles>.txt',
  'globs/[a-z]*?.txt',
  `${'long/'.repeat(20)}${'n'.repeat(150)}.bin`,
];

const MiB = 1024 ** 2;
const sizes = [0, 1, 2, 65_535, 65_536, MiB - 1, MiB, MiB + 1, 5 * MiB + 7];

for (const { name, available, read } of zipReaders) {
  test.skipIf(!available)(`${name} finds every name and byte, from empty files to several MiB`, async () => {
    const entries = names.map((path, index) => ({ name: path, bytes: someBytes(sizes[index] ?? 0, index) }));
    expect(await read(await archiveOnDisk(entries))).toEqual(expectedEntries(entries));
  });
}

describe('ZIP64 records', () => {
  const zip64Locator = Buffer.from('PK\x06\x07', 'latin1');
  const manyEntries = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `media/${index}`, bytes: Buffer.from(`${index}`) }));

  // 0xFFFF as the number of entries refers readers to ZIP64.
  test('lead a reader to all of 65,535 entries', async () => {
    const entries = manyEntries(65_535);
    const path = await archiveOnDisk(entries);
    expect((await readFile(path)).subarray(-42, -38).equals(zip64Locator)).toBe(true);
    // The others take seconds for so many.
    const python = zipReaders.find(({ name }) => name.startsWith('python'));
    if (python?.available === true) expect(await python.read(path)).toEqual(expectedEntries(entries));
  });
});

test.each([
  ['in UTC, rounded to 2 seconds', '2026-07-31T23:59:59Z', [2026, 7, 31, 23, 59, 58]],
  ['from 1980 on', '1969-07-20T20:17:40Z', [1980, 7, 20, 20, 17, 40]],
  ['up to 2107', '2261-07-08T01:02:04Z', [2107, 7, 8, 1, 2, 4]],
])('entries carry the given time, %s', async (_range, given, read) => {
  const archive = await archiveInMemory([{ name: 'a', bytes: Buffer.from('a') }], new Date(given));
  const time = archive.readUInt16LE(10);
  const date = archive.readUInt16LE(12);
  expect([
    ...[(date >> 9) + 1980, (date >> 5) & 15, date & 31],
    ...[time >> 11, (time >> 5) & 63, (time & 31) * 2],
  ]).toEqual(read);
});

test('files and folders carry their Unix modes, and readers need version 2.0', async () => {
  const archive = await archiveInMemory([
    { name: 'a/', bytes: Buffer.alloc(0) },
    { name: 'a/b.txt', bytes: Buffer.from('b') },
  ]);
  const entries: unknown[] = [];
  for await (const entry of (await fromBufferPromise(archive)).eachEntry()) entries.push(entry);
  const plain = { versionMadeBy: 0x0314, versionNeededToExtract: 20, extraFieldLength: 0 };
  expect(entries).toMatchObject([
    { fileName: 'a/', externalFileAttributes: 0o40755 * 65_536 + 0x10, ...plain },
    { fileName: 'a/b.txt', externalFileAttributes: 0o100644 * 65_536, ...plain },
  ]);
});

test('entries are stored uncompressed, and a streaming reader knows size and checksum before the bytes', async () => {
  const bytes = someBytes(1000);
  const archive = await archiveInMemory([{ name: 'a.bin', bytes }]);
  const flags = archive.readUInt16LE(6);
  expect({
    method: archive.readUInt16LE(8),
    hasDescriptor: (flags & 8) !== 0,
    isUtf8: (flags & 0x800) !== 0,
  }).toEqual({ method: 0, hasDescriptor: false, isUtf8: true });
  expect(archive.readUInt32LE(14)).toBe(crc32(bytes));
  expect([archive.readUInt32LE(18), archive.readUInt32LE(22)]).toEqual([1000, 1000]);
  expect(archive.subarray(35, 1035).equals(bytes)).toBe(true);
});
