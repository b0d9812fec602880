import { randomUUID, createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import type { Answer } from '../support/answers.ts';
import { buildPackage, buildVersion, unknownBytes } from '../support/factories.ts';
import { takeApart } from './exports.ts';
import type { Export } from './exports.ts';
import { useExportLab } from './lab.ts';
import { jsonOf } from '../support/answers.ts';
import { pngWith } from './pictures.ts';

const uploaded = { id: 'aaaaaaaa-0000-4000-8000-000000000001', bytes: unknownBytes(70_000) };
const external = { id: '00000000-0000-4000-8000-000000000002', bytes: unknownBytes(3_000) };
const unused = { id: 'bbbbbbbb-0000-4000-8000-000000000003', bytes: unknownBytes(10) };
const credit = {
  text: 'A. Painter',
  url: 'https://example.org/a',
  portfolioUrl: 'https://example.org/painter',
};
const pollJs = Buffer.from('export default 1;\n');
const pollCss = Buffer.from('.poll { color: teal }\n');

const lab = useExportLab({}, { worker: true });
let path: string;
let version: LessonVersion;
let answer: Answer;
let archive: Export;

const releasePoll = (js: Buffer) =>
  releaseWidget(lab.harness.db, lab.harness.store, {
    organizationId: lab.organization._id,
    type: 'Poll',
    js: bytesOf(js),
    css: bytesOf(pollCss),
  });

beforeAll(async () => {
  lab.origin.serve('/picture', external.bytes, { contentType: 'image/webp' });
  await releasePoll(pollJs);
  ({ path } = await buildPackage({
    slug: 'the-cell',
    lesson: { title: 'The cell', status: 'draft', an_own_field: [1] },
    media: [
      { ...uploaded, attribution: credit },
      {
        ...{ id: external.id, mimeType: 'image/webp', extension: 'webp' },
        sourceUrl: lab.origin.url('/picture'),
        attribution: { ...credit, text: 'B' },
      },
      { ...unused, attribution: { ...credit, text: 'unknown' } },
    ],
    blocks: () => [
      { type: 'Heading', props: { id: 'a', text: 'Über', level: 2 } },
      { type: 'Poll', props: { id: 'b', deep: [{ src: `media:${uploaded.id}` }] } },
      {
        type: 'Text',
        props: { id: 'c', html: `<img src="media:${external.id.toUpperCase()}"> media:nothing` },
      },
    ],
  }));
  version = await buildVersion(lab.harness, lab.organization, path);
  // A newer release that the published version must not pick up.
  await releasePoll(Buffer.from('export default 2;\n'));
  answer = await lab.get(version);
  archive = await takeApart(answer.body);
});

const widgetId = (type: string) => version.widgets.find((pin) => pin.type === type)?.widgetId ?? '';
const file = (name: string) => archive.files.get(name) ?? Buffer.alloc(0);

test('the response headers describe a ZIP file named after slug and version, with its SHA-256 as ETag', () => {
  expect({ status: answer.status, ...Object.fromEntries(answer.headers) }).toMatchObject({
    status: 200,
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="the-cell-v1.zip"',
    'content-length': String(answer.body.length),
    'x-content-type-options': 'nosniff',
    etag: `"${digestOf(answer.body).sha256}"`,
  });
});

test('the archive contains one folder with the files that the lesson uses, in a fixed order, and nothing else', () => {
  const names = [
    `media/${external.id}.webp`,
    `media/${uploaded.id}.png`,
    ...['Heading', 'Poll', 'Text'].map(widgetId).flatMap((id) => [`widgets/${id}.css`, `widgets/${id}.js`]),
  ];
  expect(archive.folder).toBe('the-cell-v1');
  expect([...archive.files.keys()]).toEqual([...names.sort(), 'lesson.json', 'manifest.json']);
});

test('media have the bytes from the upload or from the foreign server', () => {
  expect(file(`media/${uploaded.id}.png`).equals(uploaded.bytes)).toBe(true);
  expect(file(`media/${external.id}.webp`).equals(external.bytes)).toBe(true);
});

test('lesson.json is the lesson as published, with a local path for every media reference', async () => {
  const imported = JSON.parse(await readFile(join(path, 'lesson.json'), 'utf8')) as LessonContent;
  const text = JSON.stringify({ ...imported, lesson: { ...imported.lesson, status: 'published' } });
  expect(JSON.stringify(archive.lesson)).toBe(
    text
      .replace(`media:${uploaded.id}`, `./media/${uploaded.id}.png`)
      .replace(`media:${external.id.toUpperCase()}`, `./media/${external.id}.webp`),
  );
});

test('manifest.json has the documented fields, with sizes and digests', () => {
  expect(archive.manifest).toEqual({
    lessonId: version.lessonId,
    title: 'The cell',
    versionNumber: 1,
    versionId: version._id,
    publishedAt: version.publishedAt?.toISOString(),
    exportedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    formatVersion: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
    files: {
      lesson: './lesson.json',
      media: [describeMedium(external, 'webp', 'image/webp'), describeMedium(uploaded, 'png', 'image/png')],
      widgets: ['Heading', 'Poll', 'Text'].map(describeWidget),
    },
    failedMedia: [],
    failedWidgets: [],
    attributions: [
      { mediaId: external.id, ...credit, text: 'B' },
      { mediaId: uploaded.id, ...credit },
    ],
  });
});

test('a published version keeps its widget releases, whose ids are the type in kebab-case and 8 hex digits', () => {
  expect(String(file(`widgets/${widgetId('Poll')}.js`))).toBe(String(pollJs));
  expect(version.widgets.map((pin) => pin.widgetId)).toEqual([
    expect.stringMatching(/^heading-[0-9a-f]{8}$/),
    expect.stringMatching(/^poll-[0-9a-f]{8}$/),
    expect.stringMatching(/^text-[0-9a-f]{8}$/),
  ]);
});

test('the manifest names unknown media ids and widgets without a release, and the export succeeds', async () => {
  const unknown = randomUUID();
  const reference = `media:${unknown.toUpperCase()}`;
  const incomplete = await lab.download(
    await lab.publish({ blocks: () => [{ type: 'Nowhere', props: { id: 'a', src: reference } }] }),
  );
  expect([...incomplete.files.keys()]).toEqual(['lesson.json', 'manifest.json']);
  expect(incomplete.folders).toEqual(['media/', 'widgets/']);
  expect(JSON.stringify(incomplete.lesson)).toContain(`"./media/${unknown}.bin"`);
  expect(incomplete.manifest).toMatchObject({
    files: { media: [], widgets: [] },
    failedMedia: [
      { id: unknown, sourceUrl: null, localPath: `./media/${unknown}.bin`, reason: 'unknown_media' },
    ],
    failedWidgets: [{ widgetType: 'Nowhere', id: null, sourceUrl: null, reason: 'not_found' }],
  });
});

function describeMedium({ id, bytes }: { id: string; bytes: Buffer }, extension: string, mimeType: string) {
  const { size, sha256 } = digestOf(bytes);
  return { id, localPath: `./media/${id}.${extension}`, mimeType, size, sha256 };
}

function describeWidget(widgetType: string) {
  const name = `widgets/${widgetId(widgetType)}`;
  const [js, css] = [digestOf(file(`${name}.js`)), digestOf(file(`${name}.css`))];
  return {
    ...{ widgetType, localPath: `./${name}.js`, size: js.size, sha256: js.sha256 },
    ...{ cssLocalPath: `./${name}.css`, cssSize: css.size, cssSha256: css.sha256 },
  };
}

let request: (headers: Record<string, string>, method?: string) => Promise<Answer>;
let whole: Answer;
let etag: string;

beforeAll(async () => {
  const version = await lab.build(pngWith('picture'.repeat(40_000)));
  request = (headers, method = 'GET') => lab.get(version, { headers, method });
  whole = await request({});
  etag = whole.headers.get('etag') ?? '';
});

test('an interrupted download resumes at its end and gives the same archive', async () => {
  const cut = 123_456;
  const rest = await request({ range: `bytes=${cut}-`, 'if-range': etag });
  expect(rest.status).toBe(206);
  expect(rest.headers.get('content-range')).toBe(
    `bytes ${cut}-${whole.body.length - 1}/${whole.body.length}`,
  );
  expect(rest.headers.get('content-disposition')).toBe('attachment; filename="a-lesson-v1.zip"');
  expect(Buffer.concat([whole.body.subarray(0, cut), rest.body]).equals(whole.body)).toBe(true);
});

test('responses to GET, ranges and HEAD carry the digest of the whole archive, and HEAD ignores ranges', async () => {
  const digest = `sha-256=:${createHash('sha256').update(whole.body).digest('base64')}:`;
  const part = await request({ range: 'bytes=10-19' });
  const head = await request({ range: 'bytes=10-19' }, 'HEAD');
  const digests = [whole, part, head].map((answer) => answer.headers.get('repr-digest'));
  expect(digests).toEqual([digest, digest, digest]);
  expect([head.status, head.body.length]).toEqual([200, 0]);
  for (const name of ['content-length', 'content-type', 'content-disposition', 'etag', 'accept-ranges'])
    expect({ name, value: head.headers.get(name) }).toEqual({ name, value: whole.headers.get(name) });
});

test.each([
  ['that of the archive', () => etag, 206],
  ['among others', () => `"another", ${etag}`, 206],
  ['*', () => '*', 206],
  ['another', () => '"another"', 412],
  ['weak', () => `W/${etag}`, 412],
])('a range with an If-Match that is %s', async (_, condition, status) => {
  const answer = await request({ range: 'bytes=100-', 'if-match': condition() });
  expect(answer.status).toBe(status);
  if (status === 206) expect(answer.body.equals(whole.body.subarray(100))).toBe(true);
  else expect(jsonOf(answer)).toMatchObject({ code: 'PRECONDITION_FAILED', error: 'Precondition Failed' });
});

test('If-None-Match with the current ETag gets 304 without the bytes', async () => {
  const answer = await request({ 'if-none-match': etag });
  expect([answer.status, answer.body.length]).toEqual([304, 0]);
  expect(answer.headers.get('etag')).toBe(etag);
});

test('a range outside of the archive gets 416 as an export error', async () => {
  const answer = await request({ range: `bytes=${whole.body.length}-` });
  expect(answer.status).toBe(416);
  expect(answer.headers.get('content-range')).toBe(`bytes */${whole.body.length}`);
  expect(jsonOf(answer)).toMatchObject({ error: 'Range Not Satisfiable', code: 'RANGE_NOT_SATISFIABLE' });
});
