import { describe, expect, test } from 'vitest';
import { PackageError } from '../../shared/packages/package-error.ts';
import { lessonId } from '../lessons/build-lesson.ts';
import {
  buildManifest,
  jpg,
  jpgFile,
  manifestOf,
  mediaId,
  messageOfFailure,
  readFiles,
  versionId,
} from './package-folder.ts';
import type { PackageFiles } from './package-folder.ts';

const failure = (files: PackageFiles, options = {}) => messageOfFailure(readFiles(files, options));

describe('a package is rejected', () => {
  test.each<[string, PackageFiles, string]>([
    ['without lesson.json', { 'lesson.json': undefined }, 'lesson.json: is not in the package'],
    ['without manifest.json', { 'manifest.json': undefined }, 'manifest.json: is not in the package'],
    [
      'with broken JSON',
      { 'lesson.json': '{\n  "lesson": {,\n' },
      'lesson.json: line 2, column 14: expected a value',
    ],
    [
      'with a broken manifest',
      { 'manifest.json': '' },
      'manifest.json: line 1, column 1: the file ends too early',
    ],
    [
      'with bytes that are not UTF-8',
      { 'lesson.json': Buffer.from([0x22, 0xc3, 0x28, 0x22]) },
      'lesson.json: is not valid UTF-8',
    ],
    [
      'with an overlong NUL',
      { 'lesson.json': Buffer.from([0x22, 0xc0, 0x80, 0x22]) },
      'lesson.json: is not valid UTF-8',
    ],
    [
      'with UTF-16',
      { 'lesson.json': Buffer.from('\uFEFF{}', 'utf16le') },
      'lesson.json: is UTF-16; save it as UTF-8',
    ],
    [
      '10,000 levels deep',
      { 'lesson.json': '['.repeat(10_000) + ']'.repeat(10_000) },
      'lesson.json: line 1, column 201: nested deeper than 200 levels',
    ],
    [
      '1,000,000 levels deep',
      { 'manifest.json': '{"a":'.repeat(1_000_000) },
      'manifest.json: line 1, column 1001: nested deeper than 200 levels',
    ],
    [
      'with lesson.json over 64 MB',
      { 'lesson.json': Buffer.alloc(64 * 1024 ** 2 + 1, ' ') },
      'lesson.json: is 67108865 bytes; at most 67108864 are allowed',
    ],
    [
      'with manifest.json over 64 MB',
      { 'manifest.json': Buffer.alloc(64 * 1024 ** 2 + 1, ' ') },
      'manifest.json: is 67108865 bytes; at most 67108864 are allowed',
    ],
    [
      'with another lesson',
      { 'manifest.json': buildManifest({ lessonId: versionId }) },
      `manifest.json: lessonId: is not the id of lesson.json, ${lessonId}`,
    ],
    [
      'without a version',
      { 'manifest.json': buildManifest({ versionId: undefined }) },
      'manifest.json: versionId: is missing',
    ],
    [
      'with a version number of 0',
      { 'manifest.json': buildManifest({ versionNumber: 0 }) },
      'manifest.json: versionNumber: must be 1 or more',
    ],
    [
      'with half a version number',
      { 'manifest.json': buildManifest({ versionNumber: 1.5 }) },
      'manifest.json: versionNumber: must be a whole number',
    ],
    [
      'of another format',
      { 'manifest.json': buildManifest({ formatVersion: '2.0.0' }) },
      'manifest.json: formatVersion: must be a version 1.x.y of the package format',
    ],
    [
      'without files',
      { 'manifest.json': buildManifest({ files: undefined }) },
      'manifest.json: files: is missing',
    ],
    [
      'with its lesson elsewhere',
      { 'manifest.json': buildManifest({ files: { lesson: './other.json' } }) },
      'manifest.json: files.lesson: must be ./lesson.json',
    ],
    ['that is an array', { 'manifest.json': [] }, 'manifest.json: must be an object'],
    [
      'with a missing file',
      { 'manifest.json': manifestOf([jpg]) },
      `manifest.json: files.media[0].localPath: ./${jpgFile} is not in the package`,
    ],
    [
      'with a file in another case',
      { 'manifest.json': manifestOf([jpg]), [jpgFile.replace('jpg', 'JPG')]: 'x' },
      `manifest.json: files.media[0].localPath: ./${jpgFile} is not in the package`,
    ],
    [
      'with a media entry without a file and a URL',
      { 'manifest.json': manifestOf([{ ...jpg, localPath: undefined }]) },
      'manifest.json: files.media[0]: has neither a localPath nor a sourceUrl',
    ],
    [
      'with a source that is not a URL',
      { 'manifest.json': manifestOf([{ ...jpg, sourceUrl: 'file:///etc/passwd' }]) },
      'manifest.json: files.media[0].sourceUrl: must be an http or https URL',
    ],
    [
      'with an invalid media id',
      { 'manifest.json': manifestOf([{ ...jpg, id: 'x' }]) },
      'manifest.json: files.media[0].id: must be a UUID',
    ],
    [
      'with an invalid type',
      { 'manifest.json': manifestOf([{ ...jpg, mimeType: 'image' }]) },
      'manifest.json: files.media[0].mimeType: must be a MIME type such as image/png',
    ],
    [
      'with another size',
      { 'manifest.json': manifestOf([{ ...jpg, size: 9 }]), [jpgFile]: 'x' },
      `manifest.json: files.media[0].size: ./${jpgFile} has 1 bytes, not 9`,
    ],
    [
      'with an invalid digest',
      { 'manifest.json': manifestOf([{ ...jpg, sha256: 'x' }]), [jpgFile]: 'x' },
      'manifest.json: files.media[0].sha256: must be 64 hex digits',
    ],
    [
      'with a path traversal',
      { 'manifest.json': manifestOf([{ ...jpg, localPath: './media/../../x.jpg' }]) },
      'manifest.json: files.media[0].localPath: ./media/../../x.jpg: the path leads out of its folder (..)',
    ],
    [
      'with an absolute path',
      { 'manifest.json': manifestOf([{ ...jpg, localPath: '/media/x.jpg' }]) },
      'manifest.json: files.media[0].localPath: /media/x.jpg: the path is absolute',
    ],
    [
      'with a path to another folder',
      { 'manifest.json': manifestOf([{ ...jpg, localPath: './lesson.json' }]) },
      'manifest.json: files.media[0].localPath: ./lesson.json is not in media/',
    ],
    [
      'with a source URL that is too long',
      {
        'manifest.json': manifestOf([{ ...jpg, sourceUrl: `https://example.org/${'x'.repeat(8200)}` }]),
        [jpgFile]: 'x',
      },
      'manifest.json: files.media[0].sourceUrl: must be at most 8192 characters',
    ],
    [
      'with a credit as long as a book',
      {
        'manifest.json': manifestOf([jpg], [], { attributions: [{ mediaId, text: 'x'.repeat(10_001) }] }),
        [jpgFile]: 'x',
      },
      'manifest.json: attributions[0].text: must be at most 10000 characters, and has 10001',
    ],
    [
      'with more credits than a page can show',
      {
        'manifest.json': manifestOf([jpg], [], {
          attributions: Array.from({ length: 101 }, () => ({ mediaId })),
        }),
        [jpgFile]: 'x',
      },
      `manifest.json: attributions: has 101 for ${mediaId}; at most 100 are allowed for one media file`,
    ],
    [
      'with a medium twice',
      { 'manifest.json': manifestOf([jpg, { ...jpg, id: mediaId.toUpperCase() }]), [jpgFile]: 'x' },
      'manifest.json: files.media[1].id: duplicate of files.media[0].id',
    ],
    [
      'with media that is listed and failed',
      { 'manifest.json': manifestOf([jpg], [], { failedMedia: [{ id: mediaId }] }), [jpgFile]: 'x' },
      'manifest.json: failedMedia[0].id: duplicate of files.media[0].id',
    ],
    [
      'with failed media and a path traversal',
      { 'manifest.json': buildManifest({ failedMedia: [{ id: mediaId, localPath: '../x.jpg' }] }) },
      'manifest.json: failedMedia[0].localPath: ../x.jpg: the path leads out of its folder (..)',
    ],
    [
      'with a missing widget',
      { 'manifest.json': manifestOf([], [{ widgetType: 'Quiz', localPath: './widgets/q.js' }]) },
      'manifest.json: files.widgets[0].localPath: ./widgets/q.js is not in the package',
    ],
    [
      'with a missing stylesheet',
      {
        'manifest.json': manifestOf(
          [],
          [{ widgetType: 'Quiz', localPath: './widgets/q.js', cssLocalPath: './widgets/q.css' }],
        ),
        'widgets/q.js': 'x',
      },
      'manifest.json: files.widgets[0].cssLocalPath: ./widgets/q.css is not in the package',
    ],
    [
      'with a widget in media/',
      {
        'manifest.json': manifestOf([], [{ widgetType: 'Quiz', localPath: './media/q.js' }]),
        'media/q.js': 'x',
      },
      'manifest.json: files.widgets[0].localPath: ./media/q.js is not in widgets/',
    ],
    [
      'with a widget type twice',
      {
        'manifest.json': manifestOf(
          [],
          [
            { widgetType: 'Q', localPath: './widgets/q.js' },
            { widgetType: 'Q', localPath: './widgets/q.js' },
          ],
        ),
        'widgets/q.js': 'x',
      },
      'manifest.json: files.widgets[1].widgetType: duplicate of files.widgets[0].widgetType',
    ],
    [
      'with too many entries',
      { 'manifest.json': manifestOf(Array.from({ length: 100_001 }, () => 1)) },
      'manifest.json: files.media: has 100001 entries; at most 100000 are allowed',
    ],
  ])('%s', async (_how, files, message) => {
    expect(await failure(files)).toBe(message);
  });

  test('with all errors of both files at once', async () => {
    const error = await readFiles({
      'lesson.json': { lesson: { id: 'x', title: 1 }, sections: [{}] },
      'manifest.json': manifestOf([jpg], [{ widgetType: 'Quiz', localPath: './widgets/q.js' }]),
    }).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(PackageError);
    expect((error as PackageError).faults).toEqual([
      'lesson.json: lesson.id: must be a UUID',
      'lesson.json: lesson.title: must be a string',
      'lesson.json: sections[0].id: is missing',
      'lesson.json: sections[0].title: is missing',
      'lesson.json: sections[0].order_index: is missing',
      'lesson.json: sections[0].steps: is missing',
      `manifest.json: files.media[0].localPath: ./${jpgFile} is not in the package`,
      'manifest.json: files.widgets[0].localPath: ./widgets/q.js is not in the package',
    ]);
  });

  test('with a message without terminal control characters', async () => {
    const message = await failure({
      'manifest.json': manifestOf([{ ...jpg, localPath: './media/\u001b[2J\u009b.jpg' }]),
    });

    expect(message).toBe(
      'manifest.json: files.media[0].localPath: "./media/\\u001b[2J\\u009b.jpg": the path has control characters in it',
    );
  });

  test.each(['ftp://example.org', 'example.org', '', 'http://'])(
    'when the base URL is %j',
    async (mediaBaseUrl) => {
      expect(await failure({}, { mediaBaseUrl })).toContain(
        'the address of the media must be an http or https URL',
      );
    },
  );

  test('when it is larger than the caller allows', async () => {
    expect(await failure({ [jpgFile]: 'x'.repeat(5_000) }, { limits: { fileBytes: 4_000 } })).toBe(
      `a-lesson-v1: ${jpgFile}: is 5000 bytes; at most 4000 are allowed`,
    );
  });

  test('without prototype pollution', async () => {
    const polluted = '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}';
    await failure({ 'manifest.json': polluted, 'lesson.json': polluted });

    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
