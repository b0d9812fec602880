import { readFile, truncate, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { PackageError } from '../../shared/packages/package-error.ts';
import type { defaultPackageLimits } from '../../shared/packages/package-source.ts';
import { contentOf, messageOfFailure } from './package-folder.ts';
import { baseParts, openZip, writeArchive, writeZip64, zipBytes } from './zip-builder.ts';
import type { ZipPart } from './zip-builder.ts';

/** The contents of every file in an archive, or the error in place of one file or of all. */
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

describe('a ZIP archive is rejected', () => {
  const named = (name: string | Buffer, more: Partial<ZipPart> = {}): ZipPart[] => [
    ...baseParts,
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
    ['with a path traversal', named('../x.jpg'), '../x.jpg: the path leads out of its folder (..)'],
    [
      'with a path traversal inside',
      named('media/../../x'),
      'media/../../x: the path leads out of its folder (..)',
    ],
    ['with an absolute path', named('/etc/passwd'), '/etc/passwd: the path is absolute'],
    ['with a drive letter', named('C:/x.jpg'), 'C:/x.jpg: the path begins with a drive letter'],
    ['with a backslash', named('media\\x.jpg'), 'media\\x.jpg: the path has a backslash in it'],
    ['with a path traversal in backslashes', named('..\\x.jpg'), '..\\x.jpg: the path has a backslash in it'],
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
      'with a folder and a path traversal',
      named('../', { content: '', mode: 0o040755 }),
      '..: the path leads out of its folder (..)',
    ],
    [
      'with a path that is not UTF-8',
      named(Buffer.from([0x6d, 0xff, 0xfe])),
      '"mÿþ": the path is not valid UTF-8',
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
      'with a file that is also a folder',
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
      [...baseParts, { name: 'x', headerOf: 0 }],
      'lesson.json: overlaps with what follows it',
    ],
    [
      'with an entry that reaches into the next',
      [
        { name: 'lesson.json', content: 'x', method: 0, size: 900, compressedSize: 900 },
        ...baseParts.slice(1),
      ],
      'lesson.json: overlaps with what follows it',
    ],
    [
      'that is not a package',
      [{ name: 'a/x' }, { name: 'b/lesson.json' }],
      'is no lesson package: lesson.json and manifest.json have to be at the top or in the only folder there',
    ],
    ['that is empty', [], 'is empty'],
  ])('%s', async (_how, parts, fault) => {
    const message = await messageOfFailure(openZip(parts));

    expect(message).toBe(`a-lesson-v1.zip: ${fault}`);
  });

  test('with every problem at once', async () => {
    const error = await openZip([...baseParts, { name: '../a' }, { name: '/b' }]).catch(
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
    expect(await messageOfFailure(openZip(baseParts, limits))).toBe(message);
  });

  test('with declared sizes over the default limits, before anything is unpacked', async () => {
    const parts = [
      ...baseParts,
      ...[0, 1, 2].map((index) => ({ name: `media/${index}`, size: 0xffff_fffe })),
    ];

    expect(await messageOfFailure(openZip(parts))).toContain(
      'media/0: is 4294967294 bytes; at most 536870912 are allowed',
    );
  });

  test('that unpacks to more than 200 times its size', async () => {
    const message = await messageOfFailure(
      openZip([...baseParts, { name: 'x', content: Buffer.alloc(80 * 1024 ** 2) }]),
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
      Buffer.concat([zipBytes(baseParts), Buffer.from('more')]),
      'is a truncated or damaged ZIP archive',
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

  test.each([
    ['plain', () => Promise.resolve(zipBytes(baseParts))],
    ['ZIP64', async () => readFile(await writeZip64())],
  ])(
    'or fails while it is read, or gives the same bytes, whichever byte is changed (%s)',
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
