import { describe, expect, test } from 'vitest';
import type { LessonPackage } from '../../shared/packages/lesson-package.ts';
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
import type { PackageFiles } from './package-folder.ts';
import { writeArchive, zipBytes } from './zip-builder.ts';
import type { ZipPart } from './zip-builder.ts';

const html = (text: string) =>
  lessonWithContent({ content: [buildBlock({ props: { id: 'a', html: text } })], root: {} });

async function zipOf(files: PackageFiles, more: ZipPart[] = []): Promise<string> {
  const parts = Object.entries(files).map(([path, content]) => ({ name: `a-lesson-v1/${path}`, content }));
  return writeArchive(zipBytes([...parts, ...more]));
}

const textOf = async (medium: LessonPackage['media'][number] | undefined) =>
  String(medium?.file && (await contentOf(medium.file.open())));

describe('a package', () => {
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
    ['folder', writePackage],
    ['ZIP archive', zipOf],
  ])('is readable from a %s', async (_kind, write) => {
    const result = await readPackage(await write(files));
    const open = expect.any(Function) as () => never;
    const location = expect.anything() as never;
    expect(result).toMatchObject({
      ...{ lessonId, versionId, versionNumber: 1, slug: 'a-lesson', title: 'A lesson', warnings: [] },
      content: html(`<img src="media:${mediaId}"> url(media:${otherMediaId})`),
    });
    expect(result.media).toEqual([
      {
        id: mediaId,
        mimeType: 'image/jpeg',
        extension: 'jpg',
        file: { path: jpgFile, size: 5, location, open },
        sha256: 'ab'.repeat(32),
        attributions: [{ text: 'By me', url: 'https://example.org', portfolioUrl: '' }],
        uses: { image: 'Section 1 ("First section"), step 1 ("First step"), Text "a", html' },
      },
      {
        id: otherMediaId,
        mimeType: 'video/mp4',
        extension: 'mp4',
        sourceUrl: 'https://example.org/v',
        attributions: [],
      },
    ]);
    const js = { path: 'widgets/quiz-1.js', size: 2, location, open };
    const css = { path: 'widgets/quiz-1.css', size: 3, location, open };
    expect(result.widgets).toEqual([{ type: 'Quiz', js, css }]);
    expect(await textOf(result.media[0])).toBe('hello');
  });

  test('with a byte order mark is readable', async () => {
    const lesson = `\uFEFF${JSON.stringify(files['lesson.json'])}`;
    expect((await readFiles({ ...files, 'lesson.json': lesson })).title).toBe('A lesson');
  });

  test('reads the file of a media entry that also has a source', async () => {
    const both = manifestOf([{ ...jpg, sourceUrl: 'https://example.org/a.jpg' }]);
    const [present] = (await readFiles({ 'manifest.json': both, [jpgFile]: 'x' })).media;
    const [missing] = (await readFiles({ 'manifest.json': both })).media;
    expect([present?.file?.path, present?.sourceUrl]).toEqual([jpgFile, undefined]);
    expect([missing?.file, missing?.sourceUrl]).toEqual([undefined, 'https://example.org/a.jpg']);
  });

  test('keeps the sources of media that its export could not download, and reads files added in their place', async () => {
    const [png, bin] = [`media/${mediaId}.png`, `media/${otherMediaId}.bin`];
    const sourceUrl = 'https://example.org/a';
    const failedMedia = [
      { id: mediaId, localPath: `./${png}`, sourceUrl, reason: 'timeout' },
      { id: otherMediaId, localPath: `./${bin}`, sourceUrl: null, reason: 'unknown_media' },
    ];
    const parts = {
      'lesson.json': html(`./${png} ./${bin}`),
      'manifest.json': buildManifest({ failedMedia }),
    };

    const incomplete = await readFiles(parts);
    expect(incomplete.media).toEqual([
      { id: mediaId, mimeType: 'image/png', extension: 'png', sourceUrl, attributions: [] },
    ]);
    expect(incomplete.warnings).toEqual([
      `lesson.json: refers to media that the package does not have: ${otherMediaId}`,
    ]);
    const complete = await readFiles({ ...parts, [png]: 'x', [bin]: 'y' });
    expect(complete.media.map(({ id, mimeType, file }) => [id, mimeType, file?.size])).toEqual([
      [mediaId, 'image/png', 1],
      [otherMediaId, 'application/octet-stream', 1],
    ]);
    expect(complete.warnings).toEqual([]);
  });

  test('has all media at the base URL, if one is given, whether it contains their files or not', async () => {
    const manifest = manifestOf([
      jpg,
      { id: otherMediaId, mimeType: 'video/mp4', localPath: './media/the clip?.mp4' },
    ]);
    const mediaBaseUrl = 'http://127.0.0.1:8080/files//';
    const { media } = await readFiles({ 'manifest.json': manifest }, { mediaBaseUrl });
    expect(media.map(({ file, sourceUrl }) => [file, sourceUrl])).toEqual([
      [undefined, `http://127.0.0.1:8080/files/${mediaId}.jpg`],
      [undefined, 'http://127.0.0.1:8080/files/the%20clip%3F.mp4'],
    ]);
  });

  const widgetUrl = 'https://widgets.example/dial.js';
  const cssUrl = 'https://widgets.example/dial.css';
  const byUrl = (cssSourceUrl: string | null) => [[], [{ type: 'Dial', sourceUrl: widgetUrl, cssSourceUrl }]];
  const localPath = './widgets/dial.js';
  test.each<[string, object, PackageFiles, unknown[]]>([
    ['its URLs', { sourceUrl: widgetUrl, cssSourceUrl: cssUrl }, {}, byUrl(cssUrl)],
    [
      'a file before a URL',
      { localPath, sourceUrl: widgetUrl },
      { 'widgets/dial.js': 'export default {}' },
      [[['widgets/dial.js', null]], []],
    ],
    ['a URL if its file is missing', { localPath, sourceUrl: widgetUrl }, {}, byUrl(null)],
  ])('reads a widget from %s', async (_what, entry, more, expected) => {
    const manifest = manifestOf([], [{ widgetType: 'Dial', ...entry }]);
    const { widgets, externalWidgets } = await readFiles({ 'manifest.json': manifest, ...more });
    const paths = widgets.map(({ js, css }) => [js.path, css?.path ?? null]);
    expect([paths, externalWidgets]).toEqual(expected);
  });

  test('reads a failed widget from the file added at its path', async () => {
    const failed = { widgetType: 'Dial', id: 'dial-1', sourceUrl: widgetUrl, reason: 'not_found' };
    const { widgets, externalWidgets } = await readFiles({
      'manifest.json': manifestOf([], [], { failedWidgets: [failed, { widgetType: 'Nowhere', id: null }] }),
      'widgets/dial-1.js': 'export default {}',
      'widgets/dial-1.css': 'a {}',
    });
    expect(widgets.map(({ type, js, css }) => [type, js.path, css?.path])).toEqual([
      ['Dial', 'widgets/dial-1.js', 'widgets/dial-1.css'],
    ]);
    expect(externalWidgets).toEqual([]);
  });
});

describe('a package has a warning', () => {
  test('about files that are not listed', async () => {
    const extra = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`media/${index}.jpg`, 'x']));
    expect((await readFiles({ ...extra, 'widgets/x.js': 'x', 'notes.txt': 'x' })).warnings).toEqual([
      'manifest.json: does not list media/0.jpg, media/1.jpg, media/2.jpg, media/3.jpg, media/4.jpg and 3 more',
    ]);
  });

  test('about references and credits to unknown media', async () => {
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

  test('about numbers and duplicate names that JSON cannot keep, with their position', async () => {
    const { lesson, sections } = buildFiles()['lesson.json'] as Record<string, unknown>;
    const text = `{"lesson": ${JSON.stringify(lesson)},\n"sections": ${JSON.stringify(sections)},\n"n": 1e400, "n": 2}`;
    expect((await readFiles({ 'lesson.json': text })).warnings).toEqual([
      'lesson.json: line 3, column 6: the number "1e400" becomes null; write it as a string to keep it',
      'lesson.json: line 3, column 13: the name "n" is repeated in its object; the last one counts',
    ]);
  });

  test('about at most 20 problems', async () => {
    const content = Array.from({ length: 30 }, (_, index) => ({ props: { id: `b${index}` } }));
    const { warnings } = await readFiles({ 'lesson.json': lessonWithContent({ content, root: {} }) });
    expect(warnings).toHaveLength(21);
    expect(warnings[20]).toBe('and 10 more');
  });
});

describe('packages from real systems are readable', () => {
  /** Composed, as keyboards produce it, and decomposed, as in macOS file names. */
  const composed = 'Übersicht.jpg'.normalize('NFC');
  const decomposed = composed.normalize('NFD');

  const listing = (name: string): PackageFiles =>
    buildFiles({
      'lesson.json': html(`media:${mediaId}`),
      'manifest.json': manifestOf([{ ...jpg, localPath: `./media/${name}` }]),
    });

  async function expectPicture(path: string): Promise<void> {
    const { media, warnings } = await readPackage(path);
    expect(warnings).toEqual([]);
    expect(await Promise.all(media.map(textOf))).toEqual(['picture']);
  }

  test.each([
    [composed, decomposed],
    [decomposed, composed],
  ])('with accents encoded as %j in manifest.json, and as %j in the file name', async (listed, named) => {
    const all = { ...listing(listed), [`media/${named}`]: 'picture' };
    await expectPicture(await zipOf(all));
    await expectPicture(await writePackage(all));
  });

  test.each([
    ['CP437, as bit 11 says', { flags: 0 }, Buffer.from([0x9a])],
    ['UTF-8 that is not declared', { flags: 0 }, Buffer.from('Ü')],
    ['UTF-8 that is declared', {}, Buffer.from('Ü')],
  ])('with a ZIP whose names are %s', async (_what, part, letter) => {
    const name = Buffer.concat([Buffer.from('a-lesson-v1/media/'), letter, Buffer.from('bersicht.jpg')]);
    await expectPicture(await zipOf(listing(composed), [{ ...part, name, content: 'picture' }]));
  });

  test('with system files beside the only folder, and in it', async () => {
    const system = ['desktop.ini', 'Thumbs.db', '._a-lesson-v1', '.DS_Store', 'Icon\r'];
    const all: PackageFiles = { ...listing('a.jpg'), 'media/a.jpg': 'picture' };
    for (const name of system) all[`media/${name}`] = 'x';
    const beside = [...system, 'README.txt', '__MACOSX/a-lesson-v1/._Icon\r'];
    const folder = { name: 'a-lesson-v1/', mode: 0o040755 };
    await expectPicture(await zipOf(all, [folder, ...beside.map((name) => ({ name, content: 'x' }))]));
    await expectPicture(await writePackage(all));
  });

  test('but not if several folders could be the package', async () => {
    const zip = await zipOf(listing('a.jpg'), [{ name: 'other/lesson.json', content: '{}' }]);
    await expect(readPackage(zip)).rejects.toThrow('in the only folder there');
  });
});

test('warnings about blocks name section, step and the place of a block without an id, each in one line', async () => {
  const blocks = [
    { type: 'Callout', props: { body: [{ type: 'Math', props: { latex: '\\foo{' } }] } },
    { type: 'Text', props: { html: '$\\foo$ <img src="leaf.jpg">' } },
    { type: 'Image', props: { src: 'leaf.jpg', hue: 1 } },
    { type: 'TrueFalse', props: { id: 'own', prompt: '$\\foo$', correct: true } },
  ];
  const sections = [{ title: 'A', steps: [{ title: 'S', content: { content: blocks } }] }];
  const { warnings } = await readFiles({ 'lesson.json': { lesson: { title: 'T' }, sections } });
  const places = warnings.map(
    (warning) => /^lesson\.json: Section 1 \("A"\), step 1 \("S"\), ([^:,]*)[:,] .+$/.exec(warning)?.[1],
  );
  expect(places.sort()).toEqual([
    'Image at content[2]',
    'Image at content[2]',
    'Math at content[0].props.body[0]',
    'Text at content[1]',
    'Text at content[1]',
    'TrueFalse "own"',
  ]);
});

test('props that a custom widget does not publish as fields are warned of, in its package and in its archive', async () => {
  const fields = {
    label: { kind: 'text', label: 'Question' },
    marks: { kind: 'list', label: 'Marks', fields: { at: { kind: 'number', label: 'At', min: 0 } } },
  };
  const list = [
    { widgetType: 'Scale', localPath: './widgets/scale.js', fields },
    { widgetType: 'constructor', localPath: './widgets/other.js' },
    { widgetType: 'Text', localPath: './widgets/text.js', fields },
  ];
  const content = [
    buildBlock({
      type: 'Scale',
      props: { id: 'a', label: '', points: 5, marks: [{ at: 1, ta: 2 }], lable: '' },
    }),
    buildBlock({ type: 'constructor', props: { id: 'b', any: 1 } }),
    buildBlock({ type: 'Text', props: { id: 'c', html: '' } }),
  ];
  const lesson = lessonWithContent({ content, root: {} });
  lesson.lesson.widget_settings = { overrides: { Scale: { mark: [] } } };
  const files = { 'widgets/scale.js': 'js', 'widgets/other.js': 'js', 'widgets/text.js': 'js' };
  const first = await readFiles({ 'lesson.json': lesson, 'manifest.json': manifestOf([], list), ...files });
  const place = 'lesson.json: Section 1 ("First section"), step 1 ("First step"), Scale "a": unknown prop ';
  const warnings = [
    'lesson.json: The settings for all widgets of the type Scale: unknown prop "mark"; did you mean "marks"?',
    `${place}"marks[0].ta"`,
    `${place}"lable"; did you mean "label"?`,
  ];
  expect(first.warnings).toEqual(warnings);
  expect(first.content.lesson.widget_settings.fields).toEqual({ Scale: fields });
  // As archives and drafts have them, without a word of the manifest.
  const again = await readFiles({ 'lesson.json': first.content, 'manifest.json': manifestOf([]) });
  expect(again.warnings).toEqual(warnings);
});
