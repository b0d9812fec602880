import { createWriteStream } from 'node:fs';
import { readdir, readlink, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test, vi } from 'vitest';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { contentOf, messageOfFailure, temporaryFolder } from './package-folder.ts';
import { baseParts, loadArchiver, openZip, writeArchive, writeZip64, zipBytes } from './zip-builder.ts';
import type { ZipPart } from './zip-builder.ts';

/**
 * Returns the number of archive descriptors that this process has open; always none where the
 * system does not list them.
 */
const openDescriptors = async () => {
  const names = await readdir('/proc/self/fd').catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target.includes('a-lesson-v1.zip')).length;
};

/** Opens the archive, reads one entry, and returns the error. */
const failureOfReading = async (parts: ZipPart[], path: string) => {
  const source = await openZip(parts);
  const stream = await source.open(path);
  return messageOfFailure(contentOf(stream)).finally(() => source.close());
};

describe('a ZIP archive', () => {
  test('is listed and readable in any order, with deflated and stored entries', async () => {
    const big = Buffer.from('0123456789'.repeat(50_000));
    const source = await openZip([
      ...baseParts,
      { name: 'media/a.jpg', content: big },
      { name: 'media/empty.txt', content: '' },
    ]);

    expect(source.files).toEqual([
      { path: 'lesson.json', size: 8 },
      { path: 'manifest.json', size: 2 },
      { path: 'media/a.jpg', size: 500_000 },
      { path: 'media/empty.txt', size: 0 },
    ]);
    const [media, lesson, empty] = await Promise.all(
      ['media/a.jpg', 'lesson.json', 'media/empty.txt'].map(async (path) =>
        contentOf(await source.open(path)),
      ),
    );
    expect(media?.equals(big)).toBe(true);
    expect(lesson?.toString()).toBe('{"a": 1}');
    expect(empty).toHaveLength(0);
    await source.close();
  });

  test('may contain the package in one top-level folder, beside macOS files', async () => {
    const source = await openZip([
      { name: 'a-lesson-v1/', mode: 0o040755 },
      ...baseParts.map((part) => ({ ...part, name: `a-lesson-v1/${part.name.toString()}` })),
      { name: '__MACOSX/a-lesson-v1/._lesson.json', content: 'x' },
      { name: 'a-lesson-v1/.DS_Store', content: 'x' },
    ]);

    expect(source.files.map(({ path }) => path)).toEqual(['lesson.json', 'manifest.json']);
    await source.close();
  });

  test('made by archiver, with data descriptors, is readable', async () => {
    const { ZipArchive } = await loadArchiver();
    const archive = new ZipArchive({});
    const path = join(await temporaryFolder(), 'archiver.zip');
    const written = pipeline(archive, createWriteStream(path));
    archive.append(Readable.from([Buffer.from('{"a":'), Buffer.from('1}')]), { name: 'x/lesson.json' });
    archive.append(Buffer.from('{}'), { name: 'x/manifest.json', store: true });
    await archive.finalize();
    await written;

    const source = await openPackageSource(path);
    expect((await contentOf(await source.open('lesson.json'))).toString()).toBe('{"a":1}');
    await source.close();
  });

  test('in ZIP64 form is readable', async () => {
    const source = await openPackageSource(await writeZip64());

    expect((await contentOf(await source.open('lesson.json'))).toString()).toBe('{"a": 1}');
    await source.close();
  });

  test('has many concurrent readers while others abort at any point', async () => {
    const content = Buffer.alloc(1_000_000, 7);
    const source = await openZip([...baseParts, { name: 'a', content, method: 0 }, { name: 'b', content }]);
    const streams = await Promise.all(
      Array.from({ length: 40 }, (_, index) => source.open(index % 2 ? 'a' : 'b')),
    );
    const sizes = await Promise.all(
      streams
        .map(async (stream, index) => {
          if (index % 4 === 0) stream.destroy();
          let size = 0;
          for await (const chunk of stream) {
            size += (chunk as Buffer).length;
            if (index % 4 === 1) break;
          }
          return size;
        })
        .map((reading) => reading.catch(() => 'destroyed')),
    );
    await source.close();

    expect(sizes.filter((size) => size === 1_000_000)).toHaveLength(20);
    expect(streams.every(({ destroyed }) => destroyed)).toBe(true);
  });

  test('leaves no descriptor open, whether its streams are read, aborted or never used', async () => {
    const source = await openZip([
      ...baseParts,
      { name: 'a', content: Buffer.alloc(1_000_000, 7), method: 0 },
    ]);
    const before = await openDescriptors();
    await source.open('a');
    await contentOf(await source.open('a'));
    const dropped = await source.open('a');
    for await (const chunk of dropped) {
      expect(chunk).toBeInstanceOf(Buffer);
      break;
    }
    await source.close();

    await vi.waitFor(async () => expect(await openDescriptors()).toBe(before));
  });

  test('that is replaced after it was opened is rejected on reading', async () => {
    const path = await writeArchive(zipBytes(baseParts));
    const source = await openPackageSource(path);
    await writeFile(`${path}.new`, zipBytes([...baseParts, { name: 'x' }]));
    await rename(`${path}.new`, path);

    expect(await messageOfFailure(contentOf(await source.open('lesson.json')))).toBe(
      'lesson.json: is damaged or cannot be read (the archive was changed meanwhile)',
    );
  });

  test('reports a missing file', async () => {
    const source = await openZip(baseParts);

    await expect(source.open('media/none.jpg')).rejects.toThrow('media/none.jpg: is not in the package');
    expect(source.find('__proto__')).toBeUndefined();
    await source.close();
  });
});

describe('reading an entry of a ZIP archive fails', () => {
  test.each<[string, ZipPart, string]>([
    [
      'when it unpacks to more than it declares',
      { name: 'x', content: 'hello', size: 4 },
      'x: holds more than its 4 bytes',
    ],
    [
      'when it unpacks to less than it declares',
      { name: 'x', content: 'hello', size: 9 },
      'x: ends after 5 of 9 bytes',
    ],
    [
      'when its CRC-32 is another',
      { name: 'x', content: 'hello', crc32: 1 },
      'x: is damaged: its CRC-32 does not match',
    ],
    [
      'when it is stored and its CRC-32 is another',
      { name: 'x', content: 'hello', method: 0, crc32: 1 },
      'x: is damaged: its CRC-32 does not match',
    ],
    [
      'when its local header has another name',
      { name: 'x', content: 'hello', localName: 'y' },
      'x: is damaged or cannot be read (its local header has another name)',
    ],
  ])('%s', async (_how, part, message) => {
    expect(await failureOfReading([...baseParts, part], 'x')).toBe(message);
  });

  test('when its local header pushes its bytes into the next entry', async () => {
    const bytes = zipBytes([{ name: 'x', content: 'hello', method: 0 }, ...baseParts]);
    bytes.writeUInt16LE(40, 28);
    const source = await openPackageSource(await writeArchive(bytes));

    expect(await messageOfFailure(contentOf(await source.open('x')))).toBe(
      'x: is damaged or cannot be read (it overlaps with what follows it)',
    );
    await source.close();
  });

  test('when its deflated bytes are invalid', async () => {
    const bytes = zipBytes([{ name: 'x', content: 'hello '.repeat(100) }, ...baseParts]);
    bytes.fill(0xff, 31, 40);
    const source = await openPackageSource(await writeArchive(bytes));

    expect(await messageOfFailure(contentOf(await source.open('x')))).toMatch(
      /^x: is damaged or cannot be read \(invalid .*\)$/,
    );
    await source.close();
  });
});
