import { expect, test } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import { entryStarts } from '../../shared/exports/archive-layout.ts';
import { archiveInMemory } from './archives.ts';

test('files begin at the offsets that readers of the archive expect, whatever their names and sizes', async () => {
  const files = ['media/a.png', 'media/größe-日本.png', 'media/empty.png', 'lesson.json'].map(
    (path, index) => ({
      path,
      size: [10, 70_000, 0, 3][index] ?? 0,
    }),
  );
  const bytes = await archiveInMemory(
    files.map(({ path, size }) => ({ name: `größe-v1/${path}`, bytes: Buffer.alloc(size, path) })),
  );
  const starts = entryStarts('größe-v1', files);
  const zip = await fromBufferPromise(bytes);
  for await (const entry of zip.eachEntry()) {
    const path = entry.fileName.replace('größe-v1/', '');
    const header = bytes.subarray(entry.relativeOffsetOfLocalHeader);
    const headerBytes = 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
    expect({ path, start: starts.get(path) }).toEqual({
      path,
      start: entry.relativeOffsetOfLocalHeader + headerBytes,
    });
  }
  expect(starts.size).toBe(files.length);
});

test('a file of 4 GiB or more has a longer header', () => {
  const max32 = 0xffffffff;
  const starts = entryStarts('f', [
    { path: 'a', size: max32 - 1 },
    { path: 'b', size: max32 },
    { path: 'c', size: 1 },
  ]);
  const header = 30 + 'f/a'.length;
  const a = header;
  const b = a + max32 - 1 + header + 20;
  expect([...starts.values()]).toEqual([a, b, b + max32 + header]);
});
