import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, jsonOf } from '../support/answers.ts';
import { startExportLab } from '../exports/lab.ts';
import type { ExportLab } from '../exports/lab.ts';
import { expectSameFiles } from '../exports/exports.ts';
import { follow, mediumPath } from '../player/player-files.ts';
import { lecternJson } from '../cli/command-line.ts';
import { png } from '../exports/pictures.ts';
import { findContent } from '../../shared/models/lesson-content.ts';
import { uuidV5 } from '../../shared/platform/uuid.ts';
import { buildLearnerToken, buildPackage, buildVersion } from '../support/factories.ts';
import { answer } from '../support/origin.ts';
import { importInto } from './import-support.ts';

let lab: ExportLab;
beforeAll(async () => {
  lab = await startExportLab();
  await lab.harness.startWorker();
  for (const path of ['/a.png', '/b', '/c.png', '/d.png', '/poster.png']) {
    lab.origin.serve(path, png(path.length), { contentType: 'image/png' });
  }
  lab.origin.serve('/a.vtt', Buffer.from('WEBVTT\n'), { contentType: 'text/vtt' });
  lab.origin.script('/gone.png', answer(404));
});
afterAll(() => lab.close());

const url = (path: string) => lab.origin.url(path);

test('a UUID of version 5 matches the example of RFC 9562', () => {
  expect(uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
    '2ed6657d-e927-568b-95e1-2665a8aea6a2',
  );
});

test('web URLs in core widgets become media of the version, in its archive and for learners', async () => {
  const blocks = () => [
    {
      type: 'Image',
      props: { id: 'a', src: ` ${url('/a.png')}`, caption: `<a href="${url('/a.png')}">link</a>` },
    },
    {
      type: 'Callout',
      props: {
        id: 'b',
        body: [
          {
            type: 'Text',
            props: { id: 'c', html: `<p>1 <img src="${url('/b')}" srcset="${url('/c.png')} 2x">` },
          },
        ],
      },
    },
    { type: 'Video', props: { id: 'd', src: url('/gone.png'), captions: [{ src: url('/a.vtt') }] } },
    {
      type: 'MultipleChoice',
      props: { id: 'e', choices: [{ id: 'x', html: `<img src='${url('/a.png')}'>` }], correct: ['x'] },
    },
    { type: 'Custom', props: { id: 'f', src: url('/own.png') } },
  ];
  const overrides = { Video: { poster: url('/poster.png') } };
  const built = await buildPackage({ blocks, lesson: { widget_settings: { overrides } } });
  const version = await buildVersion(lab.harness, lab.organization, built.path);
  const idOf = (path: string) => uuidV5(version.lessonId, url(path));
  const { archive } = await expectSameFiles(lab, version);

  const files = ['/a.png', '/b', '/c.png', '/poster.png'].map(
    (path) => `media/${idOf(path)}.${path === '/b' ? 'jpg' : 'png'}`,
  );
  for (const path of [...files, `media/${idOf('/a.vtt')}.vtt`])
    expect([...archive.files.keys()]).toContain(path);
  expect(archive.manifest.failedMedia).toMatchObject([
    { id: idOf('/gone.png'), sourceUrl: url('/gone.png'), reason: 'not_found', status: 404 },
  ]);
  const left = JSON.stringify(archive.lesson).split(lab.origin.host).length - 1;
  // The link, and the props of a custom widget, which stay as they are.
  expect(left).toBe(2);
  expect(JSON.stringify(archive.lesson)).toContain(
    `<p>1 <img src=\\"./${files[1]}\\" srcset=\\"./${files[2]} 2x\\">`,
  );

  const learner = await ask(
    `${lab.api}/api/public/lessons/${version.lessonId}/player-data?token=${buildLearnerToken(version)}`,
  );
  expect(JSON.stringify(jsonOf(learner)).split(lab.origin.host).length - 1).toBe(2);
  const served = await follow(lab.api, mediumPath(version, idOf('/a.png')));
  expect(served.body.equals(png('/a.png'.length))).toBe(true);

  const checked = await lecternJson(lab.harness.environment, 'lesson', 'check', version.lessonId);
  expect(checked).toMatchObject({
    externalMedia: expect.arrayContaining([
      { id: idOf('/gone.png'), sourceUrl: url('/gone.png') },
    ]) as unknown,
  });

  const again = await buildVersion(lab.harness, lab.organization, built.path);
  expect((await expectSameFiles(lab, again)).archive.lesson.sections).toEqual(archive.lesson.sections);
});

test('a URL that cannot be downloaded is reported, and the lesson is imported', async () => {
  const blocks = () => [
    { type: 'Image', props: { id: 'a', src: 'https://[broken/x.png' } },
    { type: 'Image', props: { id: 'b', src: 'https://example.org/{{name}}.png' } },
    { type: 'Image', props: { id: 'c', src: 'http://10.0.0.1/x.png' } },
  ];
  const { path } = await buildPackage({ blocks });
  const { version, warnings } = await importInto(lab.harness, lab.organization, path);
  const place = 'lesson.json: Section 1 ("A section"), step 1 ("A step"), Image';
  expect(warnings).toEqual([
    `${place} "a", src: "https://[broken/x.png" is not a valid URL, and is not downloaded`,
    `${place} "b", src: "https://example.org/{{name}}.png" contains a variable, and is not downloaded`,
  ]);
  const id = uuidV5(version.lessonId, 'http://10.0.0.1/x.png');
  expect(await lecternJson(lab.harness.environment, 'lesson', 'check', version.lessonId)).toMatchObject({
    warnings: [`The media file ${id} is not downloaded: "http://10.0.0.1/x.png" is not a public address.`],
  });
});

test('captions in SubRip become WebVTT, from a file and from a URL, in archives and for learners', async () => {
  const srt = '1\n00:00:01,000 --> 00:00:02,000\nÄpfel\n';
  const webVtt = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nÄpfel\n';
  lab.origin.serve('/talk.srt', Buffer.from(srt), { contentType: 'application/x-subrip' });
  lab.origin.serve('/page.vtt', Buffer.from('Log in'), { contentType: 'text/vtt' });
  const video = (id: string, captions: unknown) => ({ type: 'Video', props: { id, src: '', captions } });
  const media = (bytes: Buffer) => [{ bytes, mimeType: 'application/x-subrip', extension: 'srt' }];
  const built = await buildPackage({
    media: media(Buffer.from(srt, 'latin1')),
    blocks: ([id]) => [
      video('a', [{ src: `./media/${id}.srt`, language: 'de' }]),
      video('b', url('/talk.srt')),
      video('c', url('/page.vtt')),
    ],
  });
  const { version, warnings } = await importInto(lab.harness, lab.organization, built.path);
  const path = `media/${built.mediaIds[0]}.srt`;
  const changes = [
    `${path}: the captions were converted from Windows-1252 to UTF-8`,
    `${path}: the captions were converted from SubRip (SRT) to WebVTT`,
  ];
  expect(warnings).toEqual(changes);
  expect(await lecternJson(lab.harness.environment, 'lesson', 'check', built.path)).toMatchObject({
    warnings: expect.arrayContaining(changes) as unknown,
  });
  await lecternJson(lab.harness.environment, 'lesson', 'publish', version.lessonId);
  const { archive } = await expectSameFiles(lab, version);
  for (const id of [built.mediaIds[0] ?? '', uuidV5(version.lessonId, url('/talk.srt'))]) {
    expect(archive.files.get(`media/${id}.vtt`)?.toString()).toBe(webVtt);
    expect(JSON.stringify(archive.lesson)).toContain(`./media/${id}.vtt`);
    const served = await follow(lab.api, mediumPath(version, id));
    expect([served.headers.get('content-type'), served.body.toString()]).toEqual([
      'text/vtt; charset=utf-8',
      webVtt,
    ]);
  }
  expect(archive.manifest.failedMedia).toMatchObject([
    { id: uuidV5(version.lessonId, url('/page.vtt')), reason: 'bad_type' },
  ]);

  const broken = await buildPackage({
    media: media(Buffer.from('Log in')),
    blocks: ([id]) => [video('a', `media:${id}`)],
  });
  await expect(importInto(lab.harness, lab.organization, broken.path)).rejects.toThrow(
    `media/${broken.mediaIds[0]}.srt: bad_type: the file is captions that are neither WebVTT nor SubRip (SRT). Replace the file.`,
  );
});

test('web URLs are found in every form that a browser accepts, and relative ones stay', async () => {
  const sources = ['ht\ntps://example.org/a.png', 'https:/example.org/a.png', 'https:example.org/a.png'];
  const html = sources.map((src) => `<img src="${src}">`).join('');
  const own = '<img src="x.png"><img src="/x.png"><img src="a:b.png"><img src="https:">';
  const blocks = () => [
    ...sources.map((src, index) => ({ type: 'Image', props: { id: `i${index}`, src } })),
    { type: 'Text', props: { id: 't', html: html + own } },
  ];
  const { path } = await buildPackage({ blocks });
  const { version, warnings } = await importInto(lab.harness, lab.organization, path);
  const content = JSON.stringify(await findContent(lab.harness.db, version._id));
  expect(warnings).toHaveLength(own.split('<').length - 1);
  for (const warning of warnings) expect(warning).toMatch(/leads nowhere/);
  expect(content).not.toContain('example.org');
  expect(content.split(`media:${uuidV5(version.lessonId, 'https://example.org/a.png')}`)).toHaveLength(7);
  expect(content).toContain(own.replaceAll('"', '\\"'));
});
