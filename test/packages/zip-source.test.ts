import { readdir, readFile, readlink, rename, truncate, writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { PackageError } from '../../shared/packages/package-error.ts';
import { defaultPackageLimits } from '../../shared/packages/package-source.ts';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { openZipSource } from '../../shared/packages/zip-source.ts';
import { contentOf, messageOfFailure } from './package-folder.ts';
import { baseParts, openZip, writeArchive, writeZip64, zipBytes } from './zip-builder.ts';
import type { ZipPart } from './zip-builder.ts';

/** Returns the number of this process's open archive descriptors; 0 if the system does not list them. */
const openDescriptors = async () => {
  const names = await readdir('/proc/self/fd').catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target.includes('a-lesson-v1.zip')).length;
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
    await expect(source.open('media/none.jpg')).rejects.toThrow('media/none.jpg: is not in the package');
    expect(source.find('__proto__')).toBeUndefined();
  });

  const folder = (name: string) => ({ name, content: '', mode: 0o040755 });
  const under = (start: string, ...names: string[]) =>
    [...baseParts, ...names.map((name) => ({ name }))].map((part) => ({
      ...part,
      name: `${start}${String(part.name)}`,
    }));
  test.each<[tool: string, ZipPart[]]>([
    ["Windows' tar", [folder('./'), folder('./media/'), ...under('./', 'media/a.jpg')]],
    ['an old PowerShell', [folder('media\\'), ...under('', 'media\\a.jpg')]],
    ["Java's jar", [folder('META-INF/'), { name: 'META-INF/MANIFEST.MF' }, ...under('', 'media/a.jpg')]],
  ])('made by %s has the same paths as others', async (_tool, parts) => {
    const source = await openZip(parts);
    expect(source.files.map(({ path }) => path)).toEqual(['lesson.json', 'manifest.json', 'media/a.jpg']);
    expect((await contentOf(await source.open('lesson.json'))).toString()).toBe('{"a": 1}');
  });

  test('in ZIP64 form is readable', async () => {
    const source = await openPackageSource(await writeZip64());
    expect((await contentOf(await source.open('lesson.json'))).toString()).toBe('{"a": 1}');
  });

  test('has many concurrent readers while others abort at any point', async () => {
    const content = Buffer.alloc(1_000_000, 7);
    const source = await openZip([...baseParts, { name: 'a', content, method: 0 }, { name: 'b', content }]);
    const streams = await Promise.all(
      Array.from({ length: 40 }, (_, index) => source.open(index % 2 ? 'a' : 'b')),
    );
    const read = async (stream: Readable, index: number) => {
      if (index % 4 === 0) stream.destroy();
      let size = 0;
      for await (const chunk of stream) {
        size += (chunk as Buffer).length;
        if (index % 4 === 1) break;
      }
      return size;
    };
    const sizes = await Promise.all(
      streams.map((stream, index) => read(stream, index).catch(() => 'destroyed')),
    );
    expect(sizes.filter((size) => size === 1_000_000)).toHaveLength(20);
    expect(streams.every(({ destroyed }) => destroyed)).toBe(true);
  });

  test('leaves no descriptor open, whether its streams are read, aborted or never used', async () => {
    const content = Buffer.alloc(1_000_000, 7);
    const source = await openZip([...baseParts, { name: 'a', content, method: 0 }]);
    const before = await openDescriptors();
    await source.open('a');
    await contentOf(await source.open('a'));
    for await (const chunk of await source.open('a')) {
      expect(chunk).toBeInstanceOf(Buffer);
      break;
    }
    await expect.poll(openDescriptors).toBe(before);
  });
});

describe('reading an entry of a ZIP archive fails', () => {
  const isDamaged = (how: string) => `x: is damaged or cannot be read (${how})`;

  test.each<[string, Partial<ZipPart>, string]>([
    ['it unpacks to more than it declares', { size: 4 }, 'x: holds more than its 4 bytes'],
    ['it unpacks to less than it declares', { size: 9 }, 'x: ends after 5 of 9 bytes'],
    ['its CRC-32 differs', { crc32: 1 }, 'x: is damaged: its CRC-32 does not match'],
    [
      'it is stored, and its CRC-32 differs',
      { method: 0, crc32: 1 },
      'x: is damaged: its CRC-32 does not match',
    ],
    ['its local header has another name', { localName: 'y' }, isDamaged('its local header has another name')],
  ])('when %s', async (_how, part, message) => {
    const source = await openZip([...baseParts, { name: 'x', content: 'hello', ...part }]);
    expect(await messageOfFailure(contentOf(await source.open('x')))).toBe(message);
  });

  test.each<[string, Partial<ZipPart>, (bytes: Buffer) => void, string]>([
    [
      'its local header pushes its bytes into the next entry',
      { method: 0 },
      (bytes) => bytes.writeUInt16LE(40, 28),
      isDamaged('it overlaps with what follows it'),
    ],
    ['its deflated bytes are invalid', {}, (bytes) => bytes.fill(0xff, 31, 40), 'cannot be read (invalid '],
  ])('when %s', async (_how, part, spoil, message) => {
    const bytes = zipBytes([{ name: 'x', content: 'hello '.repeat(100), ...part }, ...baseParts]);
    spoil(bytes);
    const source = await openPackageSource(await writeArchive(bytes));
    expect(await messageOfFailure(contentOf(await source.open('x')))).toContain(message);
  });

  test('when the archive was replaced after it was opened', async () => {
    const path = await writeArchive(zipBytes(baseParts));
    const source = await openPackageSource(path);
    await writeFile(`${path}.new`, zipBytes([...baseParts, { name: 'x' }]));
    await rename(`${path}.new`, path);
    expect(await messageOfFailure(contentOf(await source.open('lesson.json')))).toBe(
      'lesson.json: is damaged or cannot be read (the archive was changed meanwhile)',
    );
  });
});

describe('a ZIP archive is rejected', () => {
  const unicodePath = (name: string) => {
    const data = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from(name)]);
    const head = Buffer.alloc(4);
    head.writeUInt16LE(0x7075, 0);
    head.writeUInt16LE(data.length, 2);
    return Buffer.concat([head, data]);
  };
  const leadsOut = 'the path leads out of its folder (..)';
  const plainOnly = 'only plain files are allowed';

  test.each<[string | Buffer, Partial<ZipPart>, string]>([
    ['../x.jpg', {}, `../x.jpg: ${leadsOut}`],
    ['/etc/passwd', {}, '/etc/passwd: the path is absolute'],
    ['C:/x.jpg', {}, 'C:/x.jpg: the path begins with a drive letter'],
    ['media\\..\\..\\x', {}, `media/../../x: ${leadsOut}`],
    ['.\\..\\x', {}, `../x: ${leadsOut}`],
    ['.//x', {}, '/x: the path is absolute'],
    ['media/a\\x.jpg', {}, 'media/a\\x.jpg: the path contains a backslash'],
    ['media/x.jpg\0.png', {}, '"media/x.jpg\\u0000.png": the path contains a NUL character'],
    ['media/\x1b[2J', {}, '"media/\\u001b[2J": the path contains control characters'],
    [Buffer.from([0x6d, 0xff, 0xfe]), {}, '"mÿþ": the path is not valid UTF-8'],
    ['m\uFFFD', {}, 'm\uFFFD: the path is not valid UTF-8'],
    ['a.jpg', { extra: unicodePath('b.jpg') }, 'a.jpg: has a second, different name'],
    ['media/x', { mode: 0o120777 }, `media/x: is a symbolic link; ${plainOnly}`],
    ['media/x', { mode: 0o020666 }, `media/x: is a special file; ${plainOnly}`],
    ['x', { flags: 0x801 }, 'x: is encrypted'],
    ['x', { flags: 0x2800 }, 'x: is encrypted'],
    ['x', { method: 0, size: 7 }, 'x: is stored, but its two sizes differ (1 and 7)'],
    ['x/', { mode: 0o040755 }, 'x/: is a folder with contents'],
  ])('with the entry %j %j: %s', async (name, part, fault) => {
    const parts = [...baseParts, { name, content: 'x', ...part }];
    expect(await messageOfFailure(openZip(parts))).toBe(`a-lesson-v1.zip: ${fault}`);
  });

  const withFiles = (...names: string[]) => [...baseParts, ...names.map((name) => ({ name }))];
  const sharing: ZipPart = { name: 'x', headerOf: 0 };
  test.each<[string, ZipPart[], string]>([
    [
      'a path with two contents',
      [...withFiles('media/x'), { name: 'media/x', content: 'other' }],
      'media/x: duplicate of media/x',
    ],
    ['a path in another case', withFiles('media/x', 'Media/X'), 'Media/X: duplicate of media/x'],
    ['a path in another Unicode form', withFiles('\u00e9', 'e\u0301'), 'e\u0301: duplicate of \u00e9'],
    ['a file that is also a folder', withFiles('a', 'a/x'), 'a: is a file and a folder at once'],
    ['entries that share bytes', [...baseParts, sharing], 'lesson.json: overlaps with what follows it'],
    ['nothing in it', [], 'is empty'],
  ])('with %s', async (_how, parts, fault) => {
    expect(await messageOfFailure(openZip(parts))).toBe(`a-lesson-v1.zip: ${fault}`);
  });

  test.each<[Partial<typeof defaultPackageLimits>, string]>([
    [{ fileBytes: 7 }, 'a-lesson-v1.zip: lesson.json: is 8 bytes; at most 7 are allowed'],
    [{ totalBytes: 9 }, 'a-lesson-v1.zip: holds 10 bytes; at most 9 are allowed'],
    [{ files: 1 }, 'a-lesson-v1.zip: has 2 files; at most 1 are allowed'],
    [{ files: 0 }, 'a-lesson-v1.zip: has 2 entries; at most 0 are allowed'],
  ])('over the limit %j', async (limits, message) => {
    expect(await messageOfFailure(openZip(baseParts, limits))).toBe(message);
  });

  test('with declared sizes over the default limits, before anything is unpacked', async () => {
    const large = [0, 1, 2].map((index) => ({ name: `media/${index}`, size: 0xffff_fffe }));
    expect(await messageOfFailure(openZip([...baseParts, ...large]))).toContain(
      'media/0: is 4294967294 bytes; at most 536870912 are allowed',
    );
  });

  test('that unpacks to more than 200 times its size', async () => {
    const bomb = { name: 'x', content: Buffer.alloc(80 * 1024 ** 2) };
    expect(await messageOfFailure(openZip([...baseParts, bomb]))).toMatch(
      /^a-lesson-v1.zip: would expand from \d+ to 83886090 bytes, more than 200 times its size$/,
    );
  });

  test.each<[string, Buffer, string]>([
    [
      'has extra bytes at its end',
      Buffer.concat([zipBytes(baseParts), Buffer.from('more')]),
      'truncated or damaged',
    ],
  ])('that %s', async (_what, bytes, message) => {
    expect(await messageOfFailure(openPackageSource(await writeArchive(bytes)))).toContain(message);
  });

  test('that is truncated at any position', async () => {
    const whole = zipBytes(baseParts);
    const path = await writeArchive(whole);
    for (let length = whole.length - 1; length >= 4; length -= 1) {
      await truncate(path, length);
      expect(await messageOfFailure(openPackageSource(path))).toContain(
        'a-lesson-v1.zip: is a truncated or damaged ZIP archive',
      );
    }
  });
});

/** Returns the contents of every file in an archive, or the error in place of one file or of all. */
const everythingIn = async (path: string): Promise<unknown[]> => {
  try {
    const source = await openZipSource(path, defaultPackageLimits);
    const contents: unknown[] = [];
    for (const { path: entry } of source.files) {
      contents.push(await contentOf(await source.open(entry)).then(String, (error: unknown) => error));
    }
    return contents;
  } catch (error) {
    return [error];
  }
};

test.each([
  ['plain', () => Promise.resolve(zipBytes(baseParts))],
  ['ZIP64', async () => readFile(await writeZip64())],
])(
  'a %s archive is rejected, or fails while it is read, or has the same contents, whichever byte is changed',
  async (_form, build) => {
    const whole = await build();
    const path = await writeArchive(whole);
    for (let index = 0; index < whole.length; index += 1) {
      const inverted = Buffer.from(whole);
      inverted.writeUInt8(0xff - whole.readUInt8(index), index);
      await writeFile(path, inverted);
      for (const part of await everythingIn(path)) {
        if (typeof part === 'string') expect(['{"a": 1}', '{}']).toContain(part);
        else expect(part).toBeInstanceOf(PackageError);
      }
    }
  },
  60_000,
);
