import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { openPackageSource } from '../../shared/packages/read-package.ts';
import { defaultPackageLimits } from '../../shared/packages/package-source.ts';
import { buildFiles, contentOf, messageOfFailure, temporaryFolder, writePackage } from './package-folder.ts';

const isRoot = process.getuid?.() === 0;

describe('a folder', () => {
  test('is listed with sizes, sorted, and readable', async () => {
    const folder = await writePackage(
      buildFiles({ 'media/b.jpg': 'bb', 'media/a.jpg': 'a', '.DS_Store': 'x' }),
    );
    const source = await openPackageSource(folder);

    expect(source.files.map(({ path }) => path)).toEqual([
      'lesson.json',
      'manifest.json',
      'media/a.jpg',
      'media/b.jpg',
    ]);
    expect(source.find('media/b.jpg')?.size).toBe(2);
    expect((await contentOf(await source.open('media/b.jpg'))).toString()).toBe('bb');
    await expect(source.open('../secret')).rejects.toThrow('../secret: is not in the package');
    await source.close();
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

  test('opens through a symbolic link given as the path', async () => {
    const folder = await writePackage(buildFiles());
    const link = `${folder}-link`;
    await symlink(folder, link);

    const source = await openPackageSource(link);
    expect((await contentOf(await source.open('lesson.json'))).length).toBeGreaterThan(0);
  });
});

describe('a folder is rejected', () => {
  test('when it does not exist', async () => {
    const path = join(await temporaryFolder(), 'none');

    expect(await messageOfFailure(openPackageSource(path))).toBe(`${path}: there is no such file or folder`);
  });

  test.each<[string, string, string, string]>([
    ['a link to a file outside', '/etc/passwd', 'media/x.jpg', 'media/x.jpg'],
    ['a link to a folder outside', '/etc', 'media/more', 'media/more'],
    ['a link inside the package', 'lesson.json', 'other.json', 'other.json'],
    ['a link to nothing', 'nowhere', 'media/x.jpg', 'media/x.jpg'],
    ['a link to itself', 'x.jpg', 'media/x.jpg', 'media/x.jpg'],
    ['a linked media folder', '/etc', 'widgets', 'widgets'],
  ])('with %s', async (_what, target, path, named) => {
    const folder = await writePackage(buildFiles({ 'media/a.jpg': 'a' }));
    await symlink(target, join(folder, path));

    expect(await messageOfFailure(openPackageSource(folder))).toBe(
      `a-lesson-v1: ${named}: is a symbolic link; only plain files are allowed`,
    );
  });

  test('with a named pipe', async () => {
    const folder = await writePackage(buildFiles());
    execFileSync('mkfifo', [join(folder, 'pipe')]);

    expect(await messageOfFailure(openPackageSource(folder))).toBe(
      'a-lesson-v1: pipe: is a named pipe; only plain files are allowed',
    );
    expect(await messageOfFailure(openPackageSource(join(folder, 'pipe')))).toBe(
      `${join(folder, 'pipe')}: is neither a folder nor a ZIP archive`,
    );
  });

  test('with a socket', async () => {
    const folder = await writePackage(buildFiles());
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
    const message = await messageOfFailure(openPackageSource(folder));
    await new Promise((resolve) => server.close(resolve));

    expect(message).toBe('a-lesson-v1: socket: is a socket; only plain files are allowed');
  });

  test('when it is not readable', async () => {
    const folder = await writePackage(buildFiles());
    await chmod(join(folder), 0);
    // A superuser may read everything, so the test drops its rights for a moment.
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(await messageOfFailure(openPackageSource(folder))).toMatch(
        /: cannot be read: permission denied$/,
      );
    } finally {
      if (isRoot) process.seteuid?.(0);
      await chmod(folder, 0o700);
    }
  });

  test.each<[string, Record<string, string>, string]>([
    ['a path in another case', { 'media/x': 'a', 'media/X': 'b' }, 'media/x: duplicate of media/X'],
    ['a path in another Unicode form', { 'media/\u00e9': 'a', 'media/e\u0301': 'b' }, 'duplicate of'],
    ['a backslash', { 'media/a\\b': 'a' }, 'media/a\\b: the path has a backslash in it'],
    ['a drive letter', { 'C:x': 'a' }, 'C:x: the path begins with a drive letter'],
    ['a line break in a path', { 'media/a\nb': 'a' }, '"media/a\\nb": the path has control characters in it'],
  ])('with %s', async (_what, files, fault) => {
    const message = await messageOfFailure(
      writePackage(buildFiles(files)).then((folder) => openPackageSource(folder)),
    );

    expect(message).toContain(fault);
    expect(message).toMatch(/^a-lesson-v1: /);
  });

  test('with a path that is not UTF-8', async () => {
    const folder = await writePackage(buildFiles());
    await writeFile(Buffer.concat([Buffer.from(`${folder}/m`), Buffer.from([0xff])]), 'x');

    expect(await messageOfFailure(openPackageSource(folder))).toContain('the path is not valid UTF-8');
  });

  test('over its limits', async () => {
    const folder = await writePackage({ 'lesson.json': 'x'.repeat(10), 'manifest.json': '{}' });
    const failure = (limits: object) =>
      messageOfFailure(openPackageSource(folder, { ...defaultPackageLimits, ...limits }));

    expect(await failure({ fileBytes: 9 })).toBe(
      'a-lesson-v1: lesson.json: is 10 bytes; at most 9 are allowed',
    );
    expect(await failure({ totalBytes: 11 })).toBe('a-lesson-v1: holds 12 bytes; at most 11 are allowed');
    expect(await failure({ files: 1 })).toBe('a-lesson-v1: has 2 files; at most 1 are allowed');
  });

  test('when it is not a package', async () => {
    const folder = await writePackage({ 'a/x': 'x', 'b/y': 'y' });

    expect(await messageOfFailure(openPackageSource(folder))).toBe(
      'a-lesson-v1: is no lesson package: lesson.json and manifest.json have to be at the top or in the only folder there',
    );
    expect(await messageOfFailure(openPackageSource(await writePackage({})))).toBe('a-lesson-v1: is empty');
  });
});

describe('a file of a folder that changes after it was listed', () => {
  const opened = async () => {
    const folder = await writePackage(buildFiles({ 'media/x.jpg': 'hello' }));
    return { folder, media: join(folder, 'media/x.jpg'), source: await openPackageSource(folder) };
  };

  test('is rejected when it became a link', async () => {
    const { media, source } = await opened();
    await rm(media);
    await symlink('/etc/hostname', media);

    expect(await messageOfFailure(contentOf(await source.open('media/x.jpg')))).toMatch(
      /^media\/x.jpg: is damaged or cannot be read \(ELOOP/,
    );
  });

  test('is rejected when its folder became a link', async () => {
    const { folder, source } = await opened();
    const elsewhere = await temporaryFolder();
    await rename(join(folder, 'media'), join(elsewhere, 'media'));
    await symlink(join(elsewhere, 'media'), join(folder, 'media'));

    expect(await messageOfFailure(contentOf(await source.open('media/x.jpg')))).toBe(
      'media/x.jpg: was replaced while the package was read',
    );
  });

  test('is rejected when it became a folder, and a pipe does not block the reader', async () => {
    const { media, source } = await opened();
    await rm(media);
    await mkdir(media);
    expect(await messageOfFailure(contentOf(await source.open('media/x.jpg')))).toContain('was replaced');

    await rm(media, { recursive: true });
    execFileSync('mkfifo', [media]);
    expect(await messageOfFailure(contentOf(await source.open('media/x.jpg')))).toContain('was replaced');
  });

  test.each([
    ['grew', 'hello, world', 'media/x.jpg: holds more than its 5 bytes'],
    ['shrank', 'hell', 'media/x.jpg: ends after 4 of 5 bytes'],
  ])('is rejected when it %s', async (_how, content, message) => {
    const { media, source } = await opened();
    await writeFile(media, content);

    expect(await messageOfFailure(contentOf(await source.open('media/x.jpg')))).toBe(message);
  });

  test('is rejected when it is gone', async () => {
    const { media, source } = await opened();
    await rm(media);

    expect(await messageOfFailure(contentOf(await source.open('media/x.jpg')))).toContain(basename(media));
  });
});
