import { expect, test } from 'vitest';
import { readSmall, SmallFiles } from '../../shared/media/small-files.ts';
import { bytesOf, digestOf, digestOfChunks } from '../../shared/storage/digest.ts';

const mebibyte = 1024 ** 2;

test('at most 16 MiB are held at once, and each file is returned once', () => {
  const small = new SmallFiles();
  const paths = Array.from({ length: 20 }, (_, index) => `${index}`);
  const chunks = [Buffer.alloc(mebibyte)];
  expect(paths.filter((path) => small.hold(path, chunks))).toEqual(paths.slice(0, 16));
  expect([small.take('0'), small.take('0')]).toEqual([chunks, undefined]);
  expect([small.hold('late', chunks), small.hold('later', chunks)]).toEqual([true, false]);
  expect([...small.paths]).toEqual([...paths.slice(0, 16), 'late']);
});

test.each([
  ['of one chunk', [Buffer.alloc(2000, 1)], true],
  [
    'of thousands of tiny chunks',
    Array.from({ length: 5000 }, (_, index) => Buffer.from([index % 256])),
    true,
  ],
  ['of exactly 512 KiB', [Buffer.alloc(mebibyte / 2, 2)], true],
  ['of one byte more', [Buffer.alloc(mebibyte / 4, 3), Buffer.alloc(mebibyte / 4 + 1, 4)], false],
  ['of several MiB', Array.from({ length: 50 }, (_, index) => Buffer.alloc(100_000, index)), false],
])('a file %s is read whole, and stored if it is large', async (_title, chunks, isSmall) => {
  const stored: Uint8Array[] = [];
  const read = await readSmall(bytesOf(...chunks), async (source) => {
    for await (const chunk of source) stored.push(chunk);
    return digestOfChunks(bytesOf(...stored));
  });
  const { bytes, ...digest } = read;
  expect(digest).toEqual(digestOf(Buffer.concat(chunks)));
  expect(Buffer.concat(bytes ?? stored).equals(Buffer.concat(chunks))).toBe(true);
  expect([bytes !== null, stored.length > 0]).toEqual([isSmall, !isSmall]);
  if (bytes !== null) expect(bytes.length).toBeLessThan(200);
});

test('a store that fails ends the download', async () => {
  let ended = false;
  async function* download() {
    try {
      for (;;) yield await Promise.resolve(Buffer.alloc(mebibyte));
    } finally {
      ended = true;
    }
  }
  const failing = readSmall(download(), async (source) => {
    for await (const chunk of source) throw new Error(`no space for ${chunk.byteLength} bytes`);
    return digestOf(Buffer.alloc(0));
  });
  await expect(failing).rejects.toThrow('no space');
  expect(ended).toBe(true);
});
