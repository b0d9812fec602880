import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { externalVideo } from '../../shared/lessons/external-video.ts';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { checkPackageFiles } from '../../shared/packages/check-files.ts';
import { openPackage } from '../../shared/packages/open-package.ts';
import { lessonWithContent } from '../lessons/build-lesson.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { importInto } from './import-support.ts';
import { manifestOf, readFiles, writePackage } from './package-folder.ts';

const place = 'lesson.json: Section 1 ("First section"), step 1 ("First step"), ';

async function read(block: Block) {
  const { content, warnings } = await readFiles({
    'lesson.json': lessonWithContent({ root: {}, content: [block] }),
  });
  return { src: content.sections[0]?.steps[0]?.content.content[0]?.props.src, warnings };
}

describe('HTML', () => {
  test.each([
    ['<iframe src="https://example.org/a"></iframe>', '<iframe src="https://example.org/a"> is not shown'],
    [
      '<p><iframe src="//www.youtube.com/embed/dQw4w9WgXcQ?rel=0"></iframe>',
      '<iframe src="//www.youtube.com/embed/dQw4w9WgXcQ?rel=0"> is not shown; use a Video block with this URL instead',
    ],
    ['<script>draw()</script>', '<script> is not shown'],
    ['<svg><foreignObject>1</foreignObject></svg>', '<foreignObject> is not shown'],
    [
      '<audio src="https://example.org/a.mp3"></audio>',
      '<audio src="https://example.org/a.mp3"> has no attribute controls, so that no learner can play it',
    ],
    [
      '<video controls src="https://vimeo.com/76979871">',
      '"https://vimeo.com/76979871" is the URL of a page, which shows nothing here. Put the file into the package, or link to the page',
    ],
  ])('%s gets a warning', async (html, warning) => {
    const { warnings } = await read({ type: 'Text', props: { id: 'a', html } });
    expect(warnings).toContainEqual(`${place}Text "a", html: ${warning}`);
  });

  test('that players show gets none', async () => {
    const html =
      '<p>Write &lt;iframe&gt; or <code>&lt;input&gt;</code></p><video controls src="https://example.org/a.mp4"></video>' +
      '<details><summary>1</summary>2</details><svg><circle r="1"/></svg><a href="https://youtu.be/dQw4w9WgXcQ">1</a>';
    expect((await read({ type: 'Text', props: { id: 'a', html } })).warnings).toEqual([]);
  });
});

describe('a Video block', () => {
  const youtube = 'https://www.youtube.com/watch?v=dQw4w9WgXcQ';
  test.each([
    ['https://www.youtube.com/watch?v=dQw4w9WgXcQ', youtube],
    ['m.youtube.com/watch?v=dQw4w9WgXcQ', youtube],
    ['https://youtu.be/dQw4w9WgXcQ?si=abc&t=90', `${youtube}&t=90s`],
    ['https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=1m30s', `${youtube}&t=90s`],
    ['https://www.youtube.com/embed/dQw4w9WgXcQ?start=5&rel=0', `${youtube}&t=5s`],
    ['https://www.youtube.com/shorts/dQw4w9WgXcQ', youtube],
    [' https://vimeo.com/76979871 ', 'https://vimeo.com/76979871'],
    ['https://vimeo.com/76979871/8272103f6e?share=copy', 'https://vimeo.com/76979871/8272103f6e'],
    ['https://player.vimeo.com/video/76979871?h=8272103f6e', 'https://vimeo.com/76979871/8272103f6e'],
    ['https://vimeo.com/channels/staffpicks/76979871', 'https://vimeo.com/76979871'],
  ])('with %j keeps the page in one form, with a warning', async (written, page) => {
    const { src, warnings } = await read({ type: 'Video', props: { id: 'a', src: written } });
    expect(src).toBe(page);
    expect(externalVideo(page)?.frame).toMatch(
      /^https:\/\/(?:www\.youtube-nocookie\.com\/embed\/dQw4w9WgXcQ\?|player\.vimeo\.com\/video\/76979871\?\S*dnt=1)/,
    );
    expect(warnings).toEqual([
      expect.stringContaining(`${place}Video "a", src: ${JSON.stringify(written.trim())} is shown as a link`),
    ]);
  });

  test.each([
    'https://www.youtube.com/playlist?list=PL1',
    'https://www.youtube.com/@channel',
    'https://www.youtube.com/watch?v=short',
    'https://vimeo.com/event/123',
    'https://drive.google.com/file/d/1a2b/view?usp=sharing',
    'https://uni.hosted.panopto.com/Panopto/Pages/Viewer.aspx?id=1',
    'https://panopto.example.edu/Panopto/Pages/Embed.aspx?id=1',
    'https://www.dailymotion.com/video/x1',
    'https://www.loom.com/share/1a',
    'https://company.sharepoint.com/:v:/s/team/Ea1',
    'https://www.dropbox.com/s/1a/film.mp4?dl=0',
    'https://example.org/film.html',
    'https://commons.wikimedia.org/wiki/File:Leaf.webm',
  ])('with the page %j gets a warning', async (src) => {
    const { warnings } = await read({ type: 'Video', props: { id: 'a', src } });
    expect(warnings).toContainEqual(expect.stringContaining(`${JSON.stringify(src)} is the URL of a page`));
  });

  test.each([
    'https://example.org/film.mp4',
    'https://player.vimeo.com/external/76979871.hd.mp4?s=1a',
    'https://www.dropbox.com/s/1a/film.mp4?dl=1',
    'https://upload.wikimedia.org/leaf.webm',
    'https://example.org/pluginfile.php/1/film.mp4',
  ])('with the file %j gets none', async (src) => {
    expect((await read({ type: 'Video', props: { id: 'a', src } })).warnings).toEqual([]);
  });
});

/** Returns a box of MP4 and QuickTime files. */
function box(name: string, ...parts: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(body.length + 8);
  header.write(name, 4, 'latin1');
  return Buffer.concat([header, body]);
}

function track(handler: string, codec: string, more: Buffer | string = ''): Buffer {
  const entry = box(codec, Buffer.alloc(28), more);
  const dataHandler = box('hdlr', Buffer.alloc(4), 'dhlr', 'alis', Buffer.alloc(12));
  const stsd = box('stsd', Buffer.from('0000000000000001', 'hex'), entry);
  const media = [
    box('hdlr', Buffer.alloc(8), handler, Buffer.alloc(12)),
    box('minf', dataHandler, box('stbl', stsd)),
  ];
  return box('trak', box('tkhd', Buffer.alloc(84)), box('mdia', ...media));
}

const manyCodecs = Array.from({ length: 99 }, (_, index) => `x${String(index).padStart(3, '0')}`);
const samples = box('mdat', Buffer.alloc(70_000, 'x'));
const film = (brand: string, ...tracks: Buffer[]) =>
  Buffer.concat([box('ftyp', brand, Buffer.alloc(4), brand), samples, box('moov', ...tracks)]);
const esds = (type: number) =>
  box('esds', Buffer.from([0, 0, 0, 0, 3, 0x80, 0x80, 0x80, 0x22, 0, 0, 0, 4, 0x14, type, 0x15]));
const h264 = track('vide', 'avc1');
const aac = track('soun', 'mp4a', esds(0x40));
const asf = Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex');
const wave = (code: number) =>
  Buffer.concat([
    Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0', 'latin1'),
    Buffer.from([code, 0, 1, 0]),
    Buffer.alloc(12),
    Buffer.from('data\0\0\0\0'),
  ]);
const ebml = (type: string) =>
  Buffer.concat([
    Buffer.from('1a45dfa3', 'hex'),
    Buffer.from([0x80 + 3 + type.length, 0x42, 0x82, 0x80 + type.length]),
    Buffer.from(type),
  ]);
const ogg = (codec: string) =>
  Buffer.concat([
    Buffer.from('OggS\0\x02'),
    Buffer.alloc(22),
    Buffer.from(codec, 'latin1'),
    Buffer.alloc(99),
  ]);

const files: [
  file: string,
  type: string,
  use: 'Image' | 'Video' | 'Audio',
  bytes: Buffer,
  warning: string | null,
][] = [
  [
    'photo.heic',
    'image/heic',
    'Image',
    box('ftyp', 'heic', Buffer.alloc(4), 'mif1heic'),
    'is image/heic, which',
  ],
  [
    'named.jpg',
    'image/jpeg',
    'Image',
    Buffer.from('II*\0\x08\0\0\0\0\0\0\0\0\0', 'latin1'),
    'is image/tiff, which',
  ],
  [
    'sheet.pdf',
    'application/pdf',
    'Image',
    Buffer.from('%PDF-1.7\n%\xe2\xe3\n', 'latin1'),
    'is application/pdf, which',
  ],
  ['film.wmv', 'video/x-ms-wmv', 'Video', Buffer.concat([asf, Buffer.alloc(99)]), 'is video/x-ms-wmv, which'],
  ['film.mkv', 'video/webm', 'Video', ebml('matroska'), 'is Matroska, which'],
  ['film.webm', 'video/webm', 'Video', ebml('webm'), null],
  ['voice.ogg', 'audio/ogg', 'Audio', ogg('OpusHead'), null],
  ['voice.wav', 'audio/wav', 'Audio', wave(1), null],
  ['packed.wav', 'audio/wav', 'Audio', wave(0x11), 'is a WAVE file with compression 17, which'],
  ['film.mp4', 'video/mp4', 'Video', film('isom', h264, aac), null],
  [
    'subtitled.mov',
    'video/quicktime',
    'Video',
    film('qt  ', h264, aac, track('tmcd', 'tmcd'), track('text', 'text')),
    null,
  ],
  [
    'hevc.mov',
    'video/quicktime',
    'Video',
    film('qt  ', track('vide', 'hvc1'), aac),
    'is a file with HEVC (H.265), which',
  ],
  [
    'many-codecs.mp4',
    'video/mp4',
    'Video',
    film('isom', ...manyCodecs.map((code) => track('vide', code))),
    // A hostile file has millions.
    `is a file with ${manyCodecs
      .slice(0, 16)
      .map((code) => `the codec "${code}"`)
      .join(' and ')}, which`,
  ],
  [
    'dolby.mp4',
    'video/mp4',
    'Video',
    film('isom', h264, track('soun', 'ac-3')),
    'is a file with Dolby Digital',
  ],
  [
    'lossless.m4a',
    'audio/mp4',
    'Audio',
    film('M4A ', track('soun', 'alac')),
    'is a file with Apple Lossless, which',
  ],
];

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

test('every file that browsers do not show gets a warning in checks and imports, and no other file does', async () => {
  const idOf = (index: number) => `55555555-5555-4555-8555-${String(index).padStart(12, '0')}`;
  const path = await writePackage({
    'lesson.json': lessonWithContent({
      root: {},
      content: files.map(([name, , type]) => ({ type, props: { id: name, src: `media/${name}` } })),
    }),
    'manifest.json': manifestOf(
      files.map(([name, , , bytes], index) => ({
        ...{ id: idOf(index), localPath: `media/${name}`, size: bytes.length },
        mimeType: files[index]?.[1],
      })),
    ),
    ...Object.fromEntries(files.map(([name, , , bytes]) => [`media/${name}`, bytes])),
  });
  const run = { organizationId: 'a', signal: new AbortController().signal };
  const checked = await checkPackageFiles(await openPackage({ path, options: {}, asNew: false }, run), run);
  const of = (name: string) => checked.filter((warning) => warning.startsWith(`media/${name} `));
  for (const [name, , , , warning] of files) {
    expect(of(name), name).toEqual(
      warning === null ? [] : [expect.stringContaining(`media/${name} ${warning}`)],
    );
  }
  expect(of('hevc.mov')).toEqual([
    `media/hevc.mov is a file with HEVC (H.265), which not all browsers play. Convert it to MP4 with H.264 and AAC (${place.replace('lesson.json: ', '')}Video "hevc.mov", src)`,
  ]);
  const { organization } = await buildOrganization(harness);
  const imported = await importInto(harness, organization, path);
  expect(imported.warnings).toEqual(checked);
});
