import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { restoreMediaReferences, rewriteMediaReferences } from '../../shared/lessons/media-references.ts';
import { readPackage } from '../../shared/packages/read-package.ts';
import { buildBlock, lessonId, lessonWithContent } from '../lessons/build-lesson.ts';
import {
  buildFiles,
  buildManifest,
  contentOf,
  jpg,
  jpgFile,
  manifestOf,
  mediaId,
  otherMediaId,
  readFiles,
  versionId,
  writePackage,
} from './package-folder.ts';
import { writeArchive, zipBytes } from './zip-builder.ts';

describe('a package', () => {
  const html = (text: string) =>
    lessonWithContent({ content: [buildBlock({ props: { id: 'a', html: text } })], root: {} });
  const files = buildFiles({
    'lesson.json': html(`<img src="./media/${mediaId}.jpg"> url(media:${otherMediaId.toUpperCase()})`),
    'manifest.json': manifestOf(
      [
        { ...jpg, size: 5, sha256: 'AB'.repeat(32) },
        { id: otherMediaId, mimeType: 'video/mp4', sourceUrl: 'https://example.org/v' },
      ],
      [
        {
          widgetType: 'Quiz',
          localPath: './widgets/quiz-1.js',
          cssLocalPath: './widgets/quiz-1.css',
          size: 2,
        },
        { widgetType: 'Text', localPath: './widgets/text-1.js' },
      ],
      { attributions: [{ mediaId: mediaId.toUpperCase(), text: 'By me', url: 'https://example.org' }] },
    ),
    [jpgFile]: 'hello',
    'widgets/quiz-1.js': 'js',
    'widgets/quiz-1.css': 'css',
    'widgets/text-1.js': 'core',
  });

  test.each([
    ['folder', () => writePackage(files)],
    [
      'ZIP archive',
      async () =>
        writeArchive(
          zipBytes(Object.entries(files).map(([path, content]) => ({ name: `x-v1/${path}`, content }))),
        ),
    ],
  ])('is readable from a %s', async (_kind, write) => {
    const result = await readPackage(await write());

    expect(result).toMatchObject({
      ...{ lessonId, versionId, versionNumber: 1, slug: 'a-lesson', title: 'A lesson', warnings: [] },
      content: html(`<img src="media:${mediaId}"> url(media:${otherMediaId})`),
    });
    expect(result.media).toEqual([
      {
        id: mediaId,
        mimeType: 'image/jpeg',
        extension: 'jpg',
        file: { path: jpgFile, size: 5, open: expect.any(Function) },
        sha256: 'ab'.repeat(32),
        attributions: [{ text: 'By me', url: 'https://example.org', portfolioUrl: '' }],
      },
      {
        id: otherMediaId,
        mimeType: 'video/mp4',
        extension: 'mp4',
        sourceUrl: 'https://example.org/v',
        attributions: [],
      },
    ]);
    expect(result.widgets).toEqual([
      {
        type: 'Quiz',
        js: { path: 'widgets/quiz-1.js', size: 2, open: expect.any(Function) },
        css: { path: 'widgets/quiz-1.css', size: 3, open: expect.any(Function) },
      },
    ]);
    const [medium] = result.media;
    expect(medium?.file && (await contentOf(await medium.file.open())).toString()).toBe('hello');
    await result.close();
  });

  test('with a byte order mark is readable', async () => {
    const lesson = `\uFEFF${JSON.stringify(files['lesson.json'])}`;

    expect((await readFiles({ ...files, 'lesson.json': lesson })).title).toBe('A lesson');
  });

  test('reads the file of a media entry that also has a source', async () => {
    const both = manifestOf([{ ...jpg, sourceUrl: 'https://example.org/a.jpg' }]);
    const [there] = (await readFiles({ 'manifest.json': both, [jpgFile]: 'x' })).media;
    const [gone] = (await readFiles({ 'manifest.json': both })).media;

    expect(there?.file?.path).toBe(jpgFile);
    expect(there?.sourceUrl).toBeUndefined();
    expect(gone?.file).toBeUndefined();
    expect(gone?.sourceUrl).toBe('https://example.org/a.jpg');
  });

  test('keeps the sources of media that its export could not download, and reads files added in their place', async () => {
    const failed = [
      {
        id: mediaId,
        localPath: `./media/${mediaId}.png`,
        sourceUrl: 'https://example.org/a',
        reason: 'timeout',
      },
      {
        id: otherMediaId,
        localPath: `./media/${otherMediaId}.bin`,
        sourceUrl: null,
        reason: 'unknown_media',
      },
    ];
    const lesson = html(`./media/${mediaId}.png ./media/${otherMediaId}.bin`);
    const parts = { 'lesson.json': lesson, 'manifest.json': buildManifest({ failedMedia: failed }) };

    const incomplete = await readFiles(parts);
    expect(incomplete.media).toEqual([
      {
        id: mediaId,
        mimeType: 'image/png',
        extension: 'png',
        sourceUrl: 'https://example.org/a',
        attributions: [],
      },
    ]);
    expect(incomplete.warnings).toEqual([
      `lesson.json: refers to media that the package does not have: ${otherMediaId}`,
    ]);
    const whole = await readFiles({
      ...parts,
      [`media/${mediaId}.png`]: 'x',
      [`media/${otherMediaId}.bin`]: 'y',
    });
    expect(whole.media.map(({ id, mimeType, file }) => [id, mimeType, file?.size])).toEqual([
      [mediaId, 'image/png', 1],
      [otherMediaId, 'application/octet-stream', 1],
    ]);
    expect(whole.warnings).toEqual([]);
  });

  test('has all media at the base URL, if one is given, whether it contains their files or not', async () => {
    const manifest = manifestOf([
      jpg,
      { id: otherMediaId, mimeType: 'video/mp4', localPath: './media/the clip?.mp4' },
    ]);
    const { media } = await readFiles(
      { 'manifest.json': manifest },
      { mediaBaseUrl: 'http://127.0.0.1:8080/files//' },
    );

    expect(media.map(({ file, sourceUrl }) => [file, sourceUrl])).toEqual([
      [undefined, `http://127.0.0.1:8080/files/${mediaId}.jpg`],
      [undefined, 'http://127.0.0.1:8080/files/the%20clip%3F.mp4'],
    ]);
  });

  test('warns of files that are not listed', async () => {
    const extra = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`media/${index}.jpg`, 'x']));

    expect((await readFiles({ ...extra, 'widgets/x.js': 'x', 'notes.txt': 'x' })).warnings).toEqual([
      'manifest.json: does not list media/0.jpg, media/1.jpg, media/2.jpg, media/3.jpg, media/4.jpg and 3 more',
    ]);
  });

  test('warns of references and credits to unknown media', async () => {
    const ids = Array.from({ length: 7 }, (_, index) => `0000000${index}-0000-4000-8000-000000000000`);
    const { warnings } = await readFiles({
      'lesson.json': html(ids.map((id) => `media:${id}`).join(' ')),
      'manifest.json': buildManifest({ attributions: [{ mediaId }] }),
    });

    expect(warnings).toEqual([
      `lesson.json: refers to media that the package does not have: ${ids.slice(0, 5).join(', ')} and 2 more`,
      `manifest.json: credits media that the package does not have: ${mediaId}`,
    ]);
  });

  test('with many problems warns of at most 20', async () => {
    const content = Array.from({ length: 30 }, (_, index) => ({ props: { id: `b${index}` } }));
    const { warnings } = await readFiles({ 'lesson.json': lessonWithContent({ content, root: {} }) });

    expect(warnings).toHaveLength(21);
    expect(warnings[20]).toBe('and 10 more');
  });
});

const lessons = fileURLToPath(new URL('../../../shared/lessons', import.meta.url));
const hasLessons = existsSync(lessons);
if (!hasLessons) process.stderr.write(`Skipped: the real packages are not there (${lessons})\n`);

describe.skipIf(!hasLessons)('the real packages', () => {
  test('are read completely without a warning, and keep their lesson.json through export and import', async () => {
    const names = await readdir(lessons);
    expect(names).toHaveLength(3);
    for (const name of names) {
      const lessonPackage = await readPackage(join(lessons, name));
      const { content, media, warnings, widgets } = lessonPackage;
      expect(warnings).toEqual([]);
      expect(widgets).toEqual([]);
      expect(media.every(({ file }) => file !== undefined)).toBe(true);
      for (const { file } of media) {
        const bytes = file && (await contentOf(await file.open()));
        expect(bytes?.length).toBe(file?.size);
      }
      const original = JSON.stringify(JSON.parse(await readFile(join(lessons, name, 'lesson.json'), 'utf8')));
      expect(JSON.stringify(content)).toBe(original);
      const extensions = new Map(media.map(({ id, extension }) => [id, extension]));
      const exported = rewriteMediaReferences(
        content,
        (id) => `./media/${id}.${extensions.get(id) ?? 'bin'}`,
      );
      expect(JSON.stringify(exported)).not.toContain('media:');
      expect(JSON.stringify(restoreMediaReferences(exported, (id) => extensions.get(id)))).toBe(original);
      await lessonPackage.close();
    }
  });
});
