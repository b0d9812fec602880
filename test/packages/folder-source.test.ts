import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultPackageLimits } from '../../shared/packages/package-source.ts';
import { openPackageSource } from '../../shared/packages/read-package.ts';
import { buildFiles, contentOf, messageOfFailure, writePackage } from './package-folder.ts';
import { temporaryFolder } from '../support/folders.ts';

const isRoot = process.getuid?.() === 0;

describe('a folder', () => {
  test('is listed with sizes, sorted, and readable, also through a symbolic link', async () => {
    const folder = await writePackage(
      buildFiles({ 'media/b.jpg': 'bb', 'media/a.jpg': 'a', '.DS_Store': 'x' }),
    );
    await symlink(folder, `${folder}-link`);
    const source = await openPackageSource(`${folder}-link`);
    expect(source.files.map(({ path }) => path)).toEqual([
      'lesson.json',
      'manifest.json',
      'media/a.jpg',
      'media/b.jpg',
    ]);
    expect(source.find('media/b.jpg')?.size).toBe(2);
    expect((await contentOf(await source.open('media/b.jpg'))).toString()).toBe('bb');
    await expect(source.open('../secret')).rejects.toThrow('../secret: is not in the package');
  });

  test('may contain the package in its only folder', async () => {
    const folder = await writePackage({
      'inner/lesson.json': {},
      'inner/manifest.json': {},
      'inner/media/x.jpg': 'x',
    });
    const source = await openPackageSource(folder);
    expect(source.files.map(({ path }) => path)).toEqual(['lesson.json', 'manifest.json', 'media/x.jpg']);
    expect((await contentOf(await source.open('media/x.jpg'))).toString()).toBe('x');
  });
});

describe('a folder is rejected', () => {
  const failure = (folder: string, limits = {}) =>
    messageOfFailure(openPackageSource(folder, { ...defaultPackageLimits, ...limits }));

  test('when it does not exist', async () => {
    const path = join(await temporaryFolder(), 'none');
    expect(await failure(path)).toBe(`${path}: there is no such file or folder`);
  });

  test.each([
    ['a file outside', '/etc/passwd', 'media/x.jpg'],
    ['a folder outside', '/etc', 'media/more'],
    ['a folder in place of widgets/', '/etc', 'widgets'],
  ])('with a link to %s', async (_what, target, path) => {
    const folder = await writePackage(buildFiles({ 'media/a.jpg': 'a' }));
    await symlink(target, join(folder, path));
    expect(await failure(folder)).toBe(
      `a-lesson-v1: ${path}: is a symbolic link; only plain files are allowed`,
    );
  });

  test('with a named pipe or a socket', async () => {
    const folder = await writePackage(buildFiles());
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await failure(folder)).toBe('a-lesson-v1: pipe: is a named pipe; only plain files are allowed');
    expect(await failure(join(folder, 'pipe'))).toBe(
      `${join(folder, 'pipe')}: is neither a folder nor a file`,
    );
    await rm(join(folder, 'pipe'));

    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
    const message = await failure(folder);
    await new Promise((resolve) => server.close(resolve));
    expect(message).toBe('a-lesson-v1: socket: is a socket; only plain files are allowed');
  });

  test('when it is not readable', async () => {
    const folder = await writePackage(buildFiles());
    await chmod(folder, 0);
    // A superuser may read everything, so the test drops its rights for a moment.
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(await failure(folder)).toMatch(/: cannot be read: permission denied$/);
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(folder, 0o700);
    }
  });

  test.each<[Record<string, string>, string]>([
    [{ 'media/x': 'a', 'media/X': 'b' }, 'media/x: duplicate of media/X'],
    [{ 'media/\u00e9': 'a', 'media/e\u0301': 'b' }, 'duplicate of'],
    [{ 'media/a\\b': 'a' }, 'media/a\\b: the path contains a backslash'],
  ])('with the files %j', async (files, fault) => {
    const message = await failure(await writePackage(buildFiles(files)));
    expect(message).toContain(fault);
    expect(message).toMatch(/^a-lesson-v1: /);
  });

  test('with a path that is not UTF-8', async () => {
    const folder = await writePackage(buildFiles());
    await writeFile(Buffer.concat([Buffer.from(`${folder}/m`), Buffer.from([0xff])]), 'x');
    expect(await failure(folder)).toContain('the path is not valid UTF-8');
  });

  test('with more bytes than are allowed', async () => {
    const folder = await writePackage({ 'lesson.json': 'x'.repeat(10), 'manifest.json': '{}' });
    const fault = 'a-lesson-v1: holds 12 bytes; at most 11 are allowed';
    expect(await failure(folder, { totalBytes: 11 })).toBe(fault);
  });

  test('when it is empty', async () => {
    expect(await failure(await writePackage({}))).toBe('a-lesson-v1: is empty');
  });
});

/** Puts something else in place of a file. */
const replacedBy = (make: (media: string) => unknown) => async (media: string) => {
  await rm(media);
  await make(media);
};

async function moveFolder(_media: string, folder: string): Promise<void> {
  const elsewhere = join(await temporaryFolder(), 'media');
  await rename(join(folder, 'media'), elsewhere);
  await symlink(elsewhere, join(folder, 'media'));
}

const outside = replacedBy((media) => symlink('/etc/hostname', media));
const pipe = replacedBy((media) => execFileSync('mkfifo', [media]));
test.each<[string, (media: string, folder: string) => Promise<unknown>, RegExp]>([
  ['became a link', outside, /^media\/x.jpg: is damaged or cannot be read \(ELOOP/],
  [
    'is in a folder that became a link',
    moveFolder,
    /^media\/x.jpg: was replaced while the package was read$/,
  ],
  ['became a folder', replacedBy((media) => mkdir(media)), /was replaced/],
  ['became a pipe, which does not block the reader', pipe, /was replaced/],
  ['grew', (media) => writeFile(media, 'hello, world'), /^media\/x.jpg: holds more than its 5 bytes$/],
  ['shrank', (media) => writeFile(media, 'hell'), /^media\/x.jpg: ends after 4 of 5 bytes$/],
  ['is gone', (media) => rm(media), /x\.jpg/],
])('a file that %s since the folder was listed is rejected', async (_how, change, message) => {
  const folder = await writePackage(buildFiles({ 'media/x.jpg': 'hello' }));
  const source = await openPackageSource(folder);
  await change(join(folder, 'media/x.jpg'), folder);
  expect(await messageOfFailure(contentOf(await source.open('media/x.jpg')))).toMatch(message);
});
