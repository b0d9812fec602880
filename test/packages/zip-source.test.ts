import { createWriteStream } from 'node:fs';
import { readdir, readFile, readlink, rename, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';

import { describe, expect, test, vi } from 'vitest';

import { openPackageSource } from '../../shared/packages/open-package-source.ts';
import { PackageError } from '../../shared/packages/package-error.ts';
import { defaultPackageLimits } from '../../shared/packages/package-source.ts';
import { contentOf, messageOfFailure, temporaryFolder } from './package-folder.ts';
import { writeArchive, zipBytes, type ZipPart } from './zip-builder.ts';

const base: ZipPart[] = [
  { name: 'lesson.json', content: '{"a": 1}' },
  { name: 'manifest.json', content: '{}', method: 0 },
];

const open = async (parts: ZipPart[], limits = {}) =>
  openPackageSource(await writeArchive(zipBytes(parts)), { ...defaultPackageLimits, ...limits });

/** Opens the archive, reads one entry, and says what went wrong. */
const failureOfReading = async (parts: ZipPart[], path: string) => {
  const source = await open(parts);
  const stream = await source.open(path);
  return messageOfFailure(contentOf(stream)).finally(() => source.close());
};

/** How many descriptors of archives this process has open; always none where that cannot be told. */
const openDescriptors = async () => {
  const names = await readdir('/proc/self/fd').catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.filter((target) => target.includes('a-lesson-v1.zip')).length;
};

/** The contents of every file in an archive, or the error instead of it, or of all. */
const everythingIn = async (path: string): Promise<unknown[]> => {
  try {
    const source = await openPackageSource(path);
    const contents: unknown[] = [];
    for (const { path: entry } of source.files) {
      contents.push(await contentOf(await source.open(entry)).then(String, (error: unknown) => error));
    }
    return contents;
  } catch (error) {
    return [error];
  }
};

/** The parts of archiver 8 that are used here; the package has no types. */
interface Archiver extends NodeJS.ReadableStream {
  append(source: Buffer | Readable, options: { name: string; store?: boolean }): void;
  finalize(): Promise<void>;
}
const loadArchiver = async () => {
  const name = 'archiver';
  return (await import(name)) as { ZipArchive: new (options: object) => Archiver };
};

const writeZip64 = async () => {
  const { ZipArchive } = await loadArchiver();
  const archive = new ZipArchive({ forceZip64: true });
  const path = join(await temporaryFolder(), 'a-lesson-v1.zip');
  const written = pipeline(archive, createWriteStream(path));
  archive.append(Buffer.from('{"a": 1}'), { name: 'lesson.json' });
  archive.append(Buffer.from('{}'), { name: 'manifest.json' });
  await archive.finalize();
  await written;
  expect((await readFile(path)).includes(Buffer.from('PK\x06\x06', 'latin1'))).toBe(true);
  return path;
};

describe('a ZIP archive', () => {
  test('is listed and read in any order, deflated and stored entries alike', async () => {
    const big = Buffer.from('0123456789'.repeat(50_000));
    const source = await open([
      ...base,
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

  test('may hold the package in one folder at the top, beside what macOS leaves behind', async () => {
    const source = await open([
      { name: 'a-lesson-v1/', mode: 0o040755 },
      ...base.map((part) => ({ ...part, name: `a-lesson-v1/${part.name.toString()}` })),
      { name: '__MACOSX/a-lesson-v1/._lesson.json', content: 'x' },
      { name: 'a-lesson-v1/.DS_Store', content: 'x' },
    ]);

    expect(source.files.map(({ path }) => path)).toEqual(['lesson.json', 'manifest.json']);
    await source.close();
  });

  test('made by archiver, with data descriptors, is read', async () => {
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

  test('in ZIP64 form is read', async () => {
    const source = await openPackageSource(await writeZip64());

    expect((await contentOf(await source.open('lesson.json'))).toString()).toBe('{"a": 1}');
    await source.close();
  });

  test('can be read by many at once while others give up, in any state of their reading', async () => {
    const content = Buffer.alloc(1_000_000, 7);
    const source = await open([...base, { name: 'a', content, method: 0 }, { name: 'b', content }]);
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

  test('leaves no descriptor open, whether its streams are read, given up or never touched', async () => {
    const source = await open([...base, { name: 'a', content: Buffer.alloc(1_000_000, 7), method: 0 }]);
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

  test('that is replaced after it was opened is refused when it is read', async () => {
    const path = await writeArchive(zipBytes(base));
    const source = await openPackageSource(path);
    await writeFile(`${path}.new`, zipBytes([...base, { name: 'x' }]));
    await rename(`${path}.new`, path);

    expect(await messageOfFailure(contentOf(await source.open('lesson.json')))).toBe(
      'lesson.json: is damaged or cannot be read (the archive was changed meanwhile)',
    );
  });

  test('with a file nobody has is asked in vain', async () => {
    const source = await open(base);

    await expect(source.open('media/none.jpg')).rejects.toThrow('media/none.jpg: is not in the package');
    expect(source.find('__proto__')).toBeUndefined();
    await source.close();
  });
});

describe('a ZIP archive is refused', () => {
  const named = (name: string | Buffer, more: Partial<ZipPart> = {}): ZipPart[] => [
    ...base,
    { name, content: 'x', ...more },
  ];
  const unicodePath = (name: string) => {
    const data = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from(name)]);
    const head = Buffer.alloc(4);
    head.writeUInt16LE(0x7075, 0);
    head.writeUInt16LE(data.length, 2);
    return Buffer.concat([head, data]);
  };

  test.each<[string, ZipPart[], string]>([
    ['with a path that climbs', named('../x.jpg'), '../x.jpg: the path leads out of its folder (..)'],
    [
      'with a path that climbs inside',
      named('media/../../x'),
      'media/../../x: the path leads out of its folder (..)',
    ],
    ['with an absolute path', named('/etc/passwd'), '/etc/passwd: the path is absolute'],
    ['with a drive letter', named('C:/x.jpg'), 'C:/x.jpg: the path begins with a drive letter'],
    ['with a backslash', named('media\\x.jpg'), 'media\\x.jpg: the path has a backslash in it'],
    ['with a climbing path in backslashes', named('..\\x.jpg'), '..\\x.jpg: the path has a backslash in it'],
    [
      'with a NUL in a path',
      named('media/x.jpg\0.png'),
      '"media/x.jpg\\u0000.png": the path has a NUL character in it',
    ],
    [
      'with an escape in a path',
      named('media/\x1b[2J'),
      '"media/\\u001b[2J": the path has control characters in it',
    ],
    ['with an empty part in a path', named('media//x.jpg'), 'media//x.jpg: the path has an empty part in it'],
    ['with a dot in a path', named('./media/x.jpg'), './media/x.jpg: the path has an empty part in it'],
    ['with an empty path', named(''), '"": the path is empty'],
    [
      'with a folder that climbs',
      named('../', { content: '', mode: 0o040755 }),
      '..: the path leads out of its folder (..)',
    ],
    [
      'with a path that is not UTF-8',
      named(Buffer.from([0x6d, 0xff, 0xfe])),
      'an entry: the path is not valid UTF-8',
    ],
    ['with a replacement character in a path', named('m\uFFFD'), 'm\uFFFD: the path is not valid UTF-8'],
    [
      'with a second name',
      named('a.jpg', { extra: unicodePath('b.jpg') }),
      'a.jpg: has a second, different name',
    ],
    [
      'with a symbolic link',
      named('media/x', { mode: 0o120777 }),
      'media/x: is a symbolic link; only plain files are allowed',
    ],
    [
      'with a device',
      named('media/x', { mode: 0o020666 }),
      'media/x: is a special file; only plain files are allowed',
    ],
    [
      'with a named pipe',
      named('media/x', { mode: 0o010666 }),
      'media/x: is a named pipe; only plain files are allowed',
    ],
    ['with a path twice', [...named('media/x'), { name: 'media/x' }], 'media/x: duplicate of media/x'],
    [
      'with a path in another case',
      [...named('media/x'), { name: 'Media/X' }],
      'Media/X: duplicate of media/x',
    ],
    [
      'with a path in another Unicode form',
      [...named('media/\u00e9'), { name: 'media/e\u0301' }],
      'media/e\u0301: duplicate of media/\u00e9',
    ],
    [
      'with a file that is a folder',
      [...named('media'), { name: 'media/x' }],
      'media: is a file and a folder at once',
    ],
    ['with an encrypted entry', named('x', { flags: 0x801 }), 'x: is encrypted'],
    ['with a masked directory', named('x', { flags: 0x2800 }), 'x: is encrypted'],
    [
      'with an unknown compression',
      named('x', { method: 12 }),
      'x: uses compression method 12; only store (0) and deflate (8) are known',
    ],
    [
      'with a stored entry of two sizes',
      named('x', { method: 0, size: 7 }),
      'x: is stored, but its two sizes differ (1 and 7)',
    ],
    [
      'with contents in a folder',
      named('x/', { mode: 0o040755 }),
      'x/: is a folder with contents of its own',
    ],
    [
      'with entries that share their bytes',
      [...base, { name: 'x', headerOf: 0 }],
      'lesson.json: overlaps with what follows it',
    ],
    [
      'with an entry that reaches into the next',
      [{ name: 'lesson.json', content: 'x', method: 0, size: 900, compressedSize: 900 }, ...base.slice(1)],
      'lesson.json: overlaps with what follows it',
    ],
    [
      'that is no package',
      [{ name: 'a/x' }, { name: 'b/lesson.json' }],
      'is no lesson package: lesson.json and manifest.json have to be at the top or in the only folder there',
    ],
    ['that is empty', [], 'is empty'],
  ])('%s', async (_how, parts, fault) => {
    const message = await messageOfFailure(open(parts));

    expect(message).toBe(`a-lesson-v1.zip: ${fault}`);
  });

  test('with every fault at once', async () => {
    const error = await open([...base, { name: '../a' }, { name: '/b' }]).catch(
      (failure: unknown) => failure,
    );

    expect(error).toBeInstanceOf(PackageError);
    expect((error as PackageError).faults).toHaveLength(2);
  });

  test.each<[string, Partial<typeof defaultPackageLimits>, string]>([
    ['a file', { fileBytes: 7 }, 'a-lesson-v1.zip: lesson.json: is 8 bytes; at most 7 are allowed'],
    ['all files together', { totalBytes: 9 }, 'a-lesson-v1.zip: holds 10 bytes; at most 9 are allowed'],
    ['the number of files', { files: 1 }, 'a-lesson-v1.zip: has 2 files; at most 1 are allowed'],
    ['the number of entries', { files: 0 }, 'a-lesson-v1.zip: has 2 entries; at most 0 are allowed'],
  ])('over the limit of %s', async (_what, limits, message) => {
    expect(await messageOfFailure(open(base, limits))).toBe(message);
  });

  test('with declared sizes over the default limits, before anything is unpacked', async () => {
    const parts = [...base, ...[0, 1, 2].map((index) => ({ name: `media/${index}`, size: 0xffff_fffe }))];

    expect(await messageOfFailure(open(parts))).toContain(
      'media/0: is 4294967294 bytes; at most 536870912 are allowed',
    );
  });

  test('that unpacks to more than 200 times its size', async () => {
    const message = await messageOfFailure(
      open([...base, { name: 'x', content: Buffer.alloc(80 * 1024 ** 2) }]),
    );

    expect(message).toMatch(
      /^a-lesson-v1.zip: would grow from \d+ to 83886090 bytes, more than 200 times its size$/,
    );
  });

  test.each<[string, Buffer, string]>([
    ['is text', Buffer.from('hello world, this is no archive'), 'a-lesson-v1.zip: is not a ZIP archive'],
    ['is an empty file', Buffer.alloc(0), 'a-lesson-v1.zip: is not a ZIP archive'],
    ['is gzip', Buffer.from('1f8b0800000000000003', 'hex'), 'a-lesson-v1.zip: is not a ZIP archive'],
    [
      'has extra bytes at its end',
      Buffer.concat([zipBytes(base), Buffer.from('more')]),
      'is a truncated or damaged ZIP archive',
    ],
  ])('that %s', async (_what, bytes, message) => {
    expect(await messageOfFailure(openPackageSource(await writeArchive(bytes)))).toContain(message);
  });

  test('that is cut off anywhere', async () => {
    const whole = zipBytes(base);
    const path = await writeArchive(whole);
    for (let length = whole.length - 1; length >= 4; length -= 1) {
      await truncate(path, length);
      expect(await messageOfFailure(openPackageSource(path))).toContain(
        'a-lesson-v1.zip: is a truncated or damaged ZIP archive',
      );
    }
  });

  test.each([
    ['plain', () => Promise.resolve(zipBytes(base))],
    ['ZIP64', async () => readFile(await writeZip64())],
  ])(
    'or fails while it is read, or gives the same bytes, whatever is changed in it (%s)',
    async (_form, build) => {
      const whole = await build();
      const path = await writeArchive(whole);
      for (const [width, value] of [
        [1, 0xff],
        [1, 0],
        [8, 0xff],
      ] as const) {
        for (let index = 0; index < whole.length; index += 1) {
          const changed = Buffer.from(whole).fill(value, index, Math.min(index + width, whole.length));
          await writeFile(path, changed);
          for (const part of await everythingIn(path)) {
            if (typeof part === 'string') expect(['{"a": 1}', '{}']).toContain(part);
            else expect(part).toBeInstanceOf(PackageError);
          }
        }
      }
    },
    60_000,
  );
});

describe('an entry of a ZIP archive fails while it is read', () => {
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
    expect(await failureOfReading([...base, part], 'x')).toBe(message);
  });

  test('when its local header pushes its bytes into the next entry', async () => {
    const bytes = zipBytes([{ name: 'x', content: 'hello', method: 0 }, ...base]);
    bytes.writeUInt16LE(40, 28);
    const source = await openPackageSource(await writeArchive(bytes));

    expect(await messageOfFailure(contentOf(await source.open('x')))).toBe(
      'x: is damaged or cannot be read (it overlaps with what follows it)',
    );
    await source.close();
  });

  test('when its deflated bytes are none', async () => {
    const bytes = zipBytes([{ name: 'x', content: 'hello '.repeat(100) }, ...base]);
    bytes.fill(0xff, 31, 40);
    const source = await openPackageSource(await writeArchive(bytes));

    expect(await messageOfFailure(contentOf(await source.open('x')))).toMatch(
      /^x: is damaged or cannot be read \(invalid .*\)$/,
    );
    await source.close();
  });
});
