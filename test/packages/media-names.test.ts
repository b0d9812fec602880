import { describe, expect, test } from 'vitest';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { lessonWithContent } from '../lessons/build-lesson.ts';
import { manifestOf, mediaId, otherMediaId, readFiles } from './package-folder.ts';

const thirdId = '55555555-5555-4555-8555-555555555555';
const media = [
  { id: mediaId, localPath: './media/Älter 1.jpg', mimeType: 'image/jpeg' },
  { id: otherMediaId, localPath: 'media/en.vtt', mimeType: 'text/vtt' },
  { id: thirdId, localPath: './media/parts/a#b.mp4', mimeType: 'video/mp4' },
];
const picture = `media:${mediaId}`;
const captions = `media:${otherMediaId}`;
const video = `media:${thirdId}`;

/** Returns the blocks and warnings of a package with these media. */
async function read(blocks: unknown[], lesson: object = {}) {
  const built = lessonWithContent({ root: {}, content: blocks as Block[] });
  const { content: read, warnings } = await readFiles({
    'lesson.json': { ...built, lesson: { ...built.lesson, ...lesson } },
    'manifest.json': manifestOf(media),
    'media/Älter 1.jpg': 'a picture',
    'media/en.vtt': 'WEBVTT',
    'media/parts/a#b.mp4': 'a video',
    'media/unlisted.jpg': 'a picture',
  });
  const props = read.sections[0]?.steps[0]?.content.content.map((block) => block.props);
  return { props, cover: read.lesson.cover, warnings };
}

const image = (src: string) => ({ type: 'Image', props: { id: 'a', src } });

describe('a picture', () => {
  test.each([
    './media/Älter 1.jpg',
    'media/Älter 1.jpg',
    'Älter 1.jpg',
    ' Älter 1.jpg ',
    'media:Älter 1.jpg',
    '/media/Älter 1.jpg',
    '../media/Älter 1.jpg',
    '.\\media\\Älter 1.jpg',
    encodeURI('./media/Älter 1.jpg'),
    'Älter%201.jpg',
    'älter 1.JPG',
    'MEDIA/ÄLTER 1.jpg',
    'Älter 1.jpg'.normalize('NFD'),
    'Älter 1.jpg?v=2',
    picture,
  ])('named %j is found', async (src) => {
    const { props, warnings } = await read([image(src)]);
    expect(props).toMatchObject([{ src: picture }]);
    expect(warnings.filter((warning) => warning.startsWith('lesson.json'))).toEqual([]);
  });

  test.each(['leaf.jpg', './media/leaf.jpg', 'images/Älter 1.jpg', 'C:\\leaf.jpg', 'unlisted.jpg'])(
    'named %j leads nowhere, with a warning',
    async (src) => {
      const { props, warnings } = await read([image(src)]);
      expect(props).toMatchObject([{ src }]);
      expect(warnings).toContainEqual(
        `lesson.json: Section 1 ("First section"), step 1 ("First step"), Image "a", src: ${JSON.stringify(src)} leads nowhere: manifest.json lists no such file`,
      );
    },
  );
});

test('files are found by name in every place of a lesson, and each unused file is named', async () => {
  const html = (src: string, track: string) =>
    `<p><img src='${src}' srcset="${src} 2x"><video poster="${src}"><track src="${track}"></video><a href="${src}">1</a></p>`;
  const { props, cover, warnings } = await read(
    [
      {
        type: 'Callout',
        props: {
          id: 'a',
          body: [
            {
              type: 'Video',
              props: { id: 'b', src: 'parts/a%23b.mp4#t=5', poster: 'Älter%201.jpg', captions: 'en.vtt' },
            },
          ],
        },
      },
      { type: 'Audio', props: { id: 'c', captions: [{ src: './media/en.vtt', language: 'en' }] } },
      { type: 'Text', props: { id: 'd', html: html('media/Älter%201.jpg', 'en.vtt') } },
      { type: 'MultipleChoice', props: { id: 'e', choices: [{ id: 'x', html: '<img src="Älter 1.jpg">' }] } },
      {
        type: 'Globe',
        props: { id: 'f', texture: 'Älter 1.jpg', name: 'leaf.jpg', texts: ['<img src="Älter 1.jpg">'] },
      },
      {
        type: 'Text',
        props: { id: 'g', html: '<a href="#fn1">1</a> <a href="https://example.org/leaf.jpg">2</a>' },
      },
    ],
    { cover: { image: 'Älter 1.jpg' } },
  );
  expect(cover).toEqual({ image: picture });
  expect(props).toMatchObject([
    { body: [{ props: { src: `${video}#t=5`, poster: picture, captions } }] },
    { captions: [{ src: captions, language: 'en' }] },
    { html: html(picture, captions) },
    { choices: [{ html: `<img src="${picture}">` }] },
    { texture: picture, name: 'leaf.jpg', texts: [`<img src="${picture}">`] },
    { html: '<a href="#fn1">1</a> <a href="https://example.org/leaf.jpg">2</a>' },
  ]);
  expect(warnings.filter((warning) => /nowhere|does not use/.test(warning))).toEqual([]);

  const unused = await read([{ type: 'Text', props: { id: 'a', html: '<a href="handout.pdf">1</a>' } }], {
    cover: { image: 'cover.jpg' },
  });
  expect(unused.warnings).toEqual(
    expect.arrayContaining([
      'manifest.json: lists media that the lesson does not use: ./media/Älter 1.jpg, media/en.vtt, ./media/parts/a#b.mp4',
      'lesson.json: The cover, image: "cover.jpg" leads nowhere: manifest.json lists no such file',
      'lesson.json: Section 1 ("First section"), step 1 ("First step"), Text "a", html: "handout.pdf" leads nowhere: manifest.json lists no such file',
    ]),
  );
});

test.each([
  ['Älter 1.jpg', picture],
  ['Älter%201.jpg', picture],
  ['parts/a%23b.mp4#t=5', `${video}#t=5`],
  ['./MEDIA/älter 1.jpg', picture],
  ['media:älter 1.jpg', picture],
  ['<img src="älter 1.JPG">', `<img src="${picture}">`],
  ['älter 1.jpg', 'älter 1.jpg'],
  ['a#b.mp4', 'a#b.mp4'],
  ['en.VTT', 'en.VTT'],
  ['/en.vtt', '/en.vtt'],
])('a prop %j of a custom widget, which may be any text, becomes %j', async (written, becomes) => {
  const { props } = await read([{ type: 'Quiz', props: { id: 'a', answers: [written] } }]);
  expect(props).toEqual([{ id: 'a', answers: [becomes] }]);
});

test('a file whose name is the id of another one is found by its name', async () => {
  const swapped = [
    { id: mediaId, localPath: `./media/${otherMediaId}.jpg`, mimeType: 'image/jpeg' },
    { id: otherMediaId, localPath: `./media/${mediaId}.jpg`, mimeType: 'image/jpeg' },
  ];
  const { content: lesson } = await readFiles({
    'lesson.json': lessonWithContent({ root: {}, content: [image(`./media/${mediaId}.jpg`)] }),
    'manifest.json': manifestOf(swapped),
    [`media/${mediaId}.jpg`]: 'one',
    [`media/${otherMediaId}.jpg`]: 'two',
  });
  expect(lesson.sections[0]?.steps[0]?.content.content[0]?.props.src).toBe(`media:${otherMediaId}`);
});
