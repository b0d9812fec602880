import { describe, expect, test } from 'vitest';
import { PackageError } from '../../shared/packages/package-error.ts';
import { lessonId, lessonWithContent } from '../lessons/build-lesson.ts';
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

/** Returns the failure of a package with this manifest.json, without the file's name. */
async function manifestFailure(manifest: unknown, files: PackageFiles = {}): Promise<string> {
  return (await failure({ 'manifest.json': manifest, ...files })).replace(/^manifest\.json: /, '');
}

const tooLarge = Buffer.alloc(64 * 1024 ** 2 + 1, ' ');

const tooDeep = 'nested deeper than 200 levels';
test.each<[string, string, unknown, string]>([
  ['missing', 'lesson.json', undefined, 'is not in the package'],
  ['missing', 'manifest.json', undefined, 'is not in the package'],
  ['broken', 'lesson.json', '{\n  "lesson": {,\n', 'line 2, column 14: expected a value'],
  ['empty', 'manifest.json', '', 'line 1, column 1: the file ends too early'],
  ['not UTF-8', 'lesson.json', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 'is not valid UTF-8'],
  ['an overlong NUL', 'lesson.json', Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'is not valid UTF-8'],
  ['UTF-16', 'lesson.json', Buffer.from('\uFEFF{}', 'utf16le'), 'is UTF-16; save it as UTF-8'],
  ['too deep', 'lesson.json', '['.repeat(10_000), `line 1, column 201: ${tooDeep}`],
  ['far too deep', 'manifest.json', '{"a":'.repeat(1_000_000), `line 1, column 1001: ${tooDeep}`],
  ['too large', 'lesson.json', tooLarge, 'is 67108865 bytes; at most 67108864 are allowed'],
  ['too large', 'manifest.json', tooLarge, 'is 67108865 bytes; at most 67108864 are allowed'],
  ['an array', 'manifest.json', [], 'must be an object'],
])('JSON that is %s in %s is rejected', async (_how, path, content, fault) => {
  expect(await failure({ [path]: content })).toBe(`${path}: ${fault}`);
});

const fileIsMissing = `./${jpgFile} is not in the package`;
const url = 'https://widgets.example/q.js';
const longUrl = `${url}?${'x'.repeat(8192)}`;
const leadsOut = 'the path leads out of its folder (..)';
const withJpg = { [jpgFile]: 'x' };
const twoTypes = [1, 2].map(() => ({ widgetType: 'Q', localPath: './widgets/q.js' }));

describe('a manifest is rejected with', () => {
  test.each([
    [{ lessonId: versionId }, `lessonId: is not the id of lesson.json, ${lessonId}`],
    [{ versionId: undefined }, 'versionId: is missing'],
    [{ versionNumber: 0 }, 'versionNumber: must be 1 or more'],
    [{ versionNumber: 1.5 }, 'versionNumber: must be a whole number'],
    [{ formatVersion: '2.0.0' }, 'formatVersion: must be a version 1.x.y of the package format'],
    [{ files: undefined }, 'files: is missing'],
    [{ files: { lesson: './other.json' } }, 'files.lesson: must be ./lesson.json'],
    [{ failedMedia: [{ id: mediaId, localPath: '../x' }] }, `failedMedia[0].localPath: ../x: ${leadsOut}`],
    [{ files: { media: Array(20_001) } }, 'files.media: has 20001 entries; at most 20000 are allowed'],
  ])('$1', async (overrides, fault) => {
    expect(await manifestFailure(buildManifest(overrides))).toBe(fault);
  });

  test.each<[object, string, PackageFiles?]>([
    [{}, `.localPath: ${fileIsMissing}`],
    [{}, `.localPath: ${fileIsMissing}`, { [jpgFile.replace('jpg', 'JPG')]: 'x' }],
    [{ localPath: undefined }, ': has neither a localPath nor a sourceUrl'],
    [{ sourceUrl: 'file:///etc/passwd' }, '.sourceUrl: must be an http or https URL'],
    [{ sourceUrl: longUrl }, '.sourceUrl: must be at most 8192 characters', withJpg],
    [{ id: 'x' }, '.id: must be a UUID'],
    [{ mimeType: 'image' }, '.mimeType: must be a MIME type such as image/png'],
    [{ size: 9 }, `.size: ./${jpgFile} has 1 bytes, not 9`, withJpg],
    [{ sha256: 'x' }, '.sha256: must be 64 hex digits', withJpg],
    [{ localPath: './media/../../x.jpg' }, `.localPath: ./media/../../x.jpg: ${leadsOut}`],
    [{ localPath: '/media/x.jpg' }, '.localPath: /media/x.jpg: the path is absolute'],
    [{ localPath: './lesson.json' }, '.localPath: ./lesson.json is not in media/'],
    [
      { localPath: './media/\u001b[2J\u009b.jpg' },
      '.localPath: "./media/\\u001b[2J\\u009b.jpg": the path contains control characters',
    ],
  ])('the media entry $1', async (changes, fault, files) => {
    expect(await manifestFailure(manifestOf([{ ...jpg, ...changes }]), files)).toBe(`files.media[0]${fault}`);
  });

  const text = 'x'.repeat(10_001);
  const credits = { attributions: Array<object>(101).fill({ mediaId }) };
  test.each<[object, string, unknown[]?]>([
    [
      { attributions: [{ mediaId, text }] },
      'attributions[0].text: must be at most 10000 characters, and has 10001',
    ],
    [credits, `attributions: has 101 for ${mediaId}; at most 100 are allowed for one media file`],
    [{}, 'files.media[1].id: duplicate of files.media[0].id', [jpg, { ...jpg, id: mediaId.toUpperCase() }]],
    [{ failedMedia: [{ id: mediaId }] }, 'failedMedia[0].id: duplicate of files.media[0].id'],
  ])('$1', async (more, fault, media = [jpg]) => {
    expect(await manifestFailure(manifestOf(media, [], { ...more }), withJpg)).toBe(fault);
  });

  const js = './widgets/q.js';
  const simple = { kind: 'text', label: 'A' };
  const nestedList = (levels: number): object =>
    levels === 0 ? simple : { kind: 'list', label: 'A', fields: { a: nestedList(levels - 1) } };
  const manyFields = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, simple]));
  const [css, withJs] = ['./widgets/q.css', { 'widgets/q.js': 'x' }] as const;
  const needsUrl = 'needs a sourceUrl and no file: give the stylesheet of a file as cssLocalPath';
  test.each<[object, string, PackageFiles?]>([
    [{}, ': has neither a localPath nor a sourceUrl'],
    [{ localPath: js }, `.localPath: ${js} is not in the package`],
    [{ localPath: js, cssLocalPath: css }, `.cssLocalPath: ${css} is not in the package`, withJs],
    [{ localPath: './media/q.js' }, '.localPath: ./media/q.js is not in widgets/', { 'media/q.js': 'x' }],
    [{ sourceUrl: 'data:text/javascript,1' }, '.sourceUrl: must be an http or https URL'],
    [{ sourceUrl: longUrl }, '.sourceUrl: must be at most 8192 characters'],
    [{ localPath: js, cssSourceUrl: url }, `.cssSourceUrl: ${needsUrl}`, withJs],
    [{ localPath: js, fields: [] }, '.fields: must be an object', withJs],
    [{ localPath: js, fields: { a: { kind: 'text' } } }, '.fields.a.label: is missing', withJs],
    [
      { localPath: js, fields: { a: { kind: 'color', label: 'A' } } },
      '.fields.a.kind: must be a known kind of field',
      withJs,
    ],
    [
      { localPath: js, fields: { a: nestedList(4) } },
      `.fields.a${'.fields.a'.repeat(3)}.kind: must be a known kind of field`,
      withJs,
    ],
    [
      { localPath: js, fields: JSON.parse('{ "__proto__": null }') as unknown },
      '.fields: must have no field named __proto__',
      withJs,
    ],
    [{ localPath: js, fields: manyFields }, '.fields: must have at most 100 fields', withJs],
    [
      { localPath: js, fields: { a: { kind: 'text', label: 'x'.repeat(32_768) } } },
      '.fields: must have at most 32768 characters of JSON',
      withJs,
    ],
  ])('the widget entry $1', async (entry, fault, files) => {
    const manifest = manifestOf([], [{ widgetType: 'Quiz', ...entry }]);
    expect(await manifestFailure(manifest, files)).toBe(`files.widgets[0]${fault}`);
  });

  test('a widget type twice, or more than 100 widgets by URL', async () => {
    expect(await manifestFailure(manifestOf([], twoTypes), withJs)).toBe(
      'files.widgets[1].widgetType: duplicate of files.widgets[0].widgetType',
    );
    const many = Array.from({ length: 101 }, (_, index) => ({ widgetType: `W${index}`, sourceUrl: url }));
    expect(await manifestFailure(manifestOf([], many))).toBe(
      'files.widgets: has 101 widgets by URL; at most 100 are allowed. Put the files of some into widgets/',
    );
  });
});

describe('a package is rejected', () => {
  test('with all faults of both files at once', async () => {
    const error = await readFiles({
      'lesson.json': { lesson: { id: 'x', title: 1 }, sections: [{ steps: [{ title: '' }] }] },
      'manifest.json': manifestOf(
        [{ id: 1 }, jpg],
        [{}, { widgetType: 'Quiz', localPath: './widgets/q.js' }],
        {
          versionNumber: undefined,
        },
      ),
    }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PackageError);
    expect((error as PackageError).faults).toEqual([
      'manifest.json: versionNumber: is missing',
      'manifest.json: files.media[0].id: must be a string',
      'manifest.json: files.media[0].mimeType: is missing',
      'manifest.json: files.widgets[0].widgetType: is missing',
      'lesson.json: lesson.id: must be a UUID',
      'lesson.json: lesson.title: must be a string',
      'lesson.json: sections[0].title: is missing',
      'lesson.json: sections[0].steps[0].content: is missing',
      `manifest.json: files.media[1].localPath: ${fileIsMissing}`,
      'manifest.json: files.widgets[1].localPath: ./widgets/q.js is not in the package',
    ]);
  });

  test('with faults in URLs beside a missing file', async () => {
    const image = { type: 'Image', props: { id: 'i', src: 'file:///leaf.jpg' } };
    const files = {
      'lesson.json': lessonWithContent({ content: [image], root: {} }),
      'manifest.json': manifestOf([jpg]),
    };
    expect((await failure(files)).split('\n')).toEqual([
      `manifest.json: files.media[0].localPath: ${fileIsMissing}`,
      expect.stringMatching(/^lesson\.json: .*file:\/\/\/leaf\.jpg/),
    ]);
  });

  test.each(['ftp://example.org', 'example.org', '', 'http://'])('when the base URL is %j', async (base) => {
    const message = await failure({}, { mediaBaseUrl: base });
    expect(message).toContain('the base of the media must be an http or https URL');
  });

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
