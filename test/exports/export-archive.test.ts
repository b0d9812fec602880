import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { readArchive, readJson } from './read-archive.ts';

const uploaded = { id: 'aaaaaaaa-0000-4000-8000-000000000001', bytes: randomBytes(70_000) };
const external = { id: '00000000-0000-4000-8000-000000000002', bytes: randomBytes(3_000) };
const unused = { id: 'bbbbbbbb-0000-4000-8000-000000000003', bytes: randomBytes(10) };
const credit = {
  text: 'A. Painter',
  url: 'https://example.org/a',
  portfolioUrl: 'https://example.org/painter',
};
const pollJs = Buffer.from('export default 1;\n');
const pollCss = Buffer.from('.poll { color: teal }\n');

let harness: Harness;
let origin: Origin;
let tenant: Awaited<ReturnType<typeof buildOrganization>>;
let path: string;
let version: LessonVersion;
let answer: Answer;
let files: Map<string, Buffer>;
let manifest: ExportManifest;

const releasePoll = (js: Buffer) =>
  releaseWidget(harness.db, harness.store, {
    organizationId: tenant.organization._id,
    type: 'Poll',
    js: bytesOf(js),
    css: bytesOf(pollCss),
  });

beforeAll(async () => {
  origin = await startOrigin();
  origin.serve('/picture', external.bytes, { contentType: 'image/webp' });
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  const address = await harness.startApi();
  await harness.startWorker();
  tenant = await buildOrganization(harness);
  await releasePoll(pollJs);
  ({ path } = await buildPackage({
    slug: 'the-cell',
    lesson: { title: 'The cell', status: 'draft', an_own_field: [1] },
    media: [
      { ...uploaded, attribution: credit },
      {
        id: external.id,
        sourceUrl: origin.url('/picture'),
        mimeType: 'image/webp',
        extension: 'webp',
        attribution: { ...credit, text: 'B' },
      },
      { ...unused, attribution: { ...credit, text: 'nobody' } },
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
  version = await buildVersion(harness, tenant.organization, path);
  // A newer release that the published version must not pick up.
  await releasePoll(Buffer.from('export default 2;\n'));
  answer = await ask(address + exportPath(version), { headers: tenant.headers });
  files = await readArchive(answer.body);
  manifest = readJson(files, 'the-cell-v1/manifest.json');
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});

const widgetId = (type: string) => version.widgets.find((pin) => pin.type === type)?.widgetId ?? '';
const file = (name: string) => files.get(`the-cell-v1/${name}`) ?? Buffer.alloc(0);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('the response headers describe a ZIP file named after slug and version', () => {
  expect({ status: answer.status, ...Object.fromEntries(answer.headers) }).toMatchObject({
    status: 200,
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="the-cell-v1.zip"',
    'content-length': String(answer.body.length),
    'x-content-type-options': 'nosniff',
  });
});

test('the ETag is the SHA-256 of the body', () => {
  expect(answer.headers.get('etag')).toBe(`"${sha256(answer.body)}"`);
});

test('the archive contains one folder with the files that the lesson uses, in a fixed order, and nothing else', () => {
  const names = [
    `media/${external.id}.webp`,
    `media/${uploaded.id}.png`,
    ...['Heading', 'Poll', 'Text'].map(widgetId).flatMap((id) => [`widgets/${id}.css`, `widgets/${id}.js`]),
  ];
  expect([...files.keys()]).toEqual(
    [...names.sort(), 'lesson.json', 'manifest.json'].map((name) => `the-cell-v1/${name}`),
  );
});

test('media have the bytes from the upload or from the foreign server', () => {
  expect(file(`media/${uploaded.id}.png`).equals(uploaded.bytes)).toBe(true);
  expect(file(`media/${external.id}.webp`).equals(external.bytes)).toBe(true);
});

test('lesson.json is the lesson as published, with a local path for every media reference', async () => {
  const imported = JSON.parse(await readFile(join(path, 'lesson.json'), 'utf8')) as LessonContent;
  const text = JSON.stringify({ ...imported, lesson: { ...imported.lesson, status: 'published' } });
  expect(JSON.stringify(readJson(files, 'the-cell-v1/lesson.json'))).toBe(
    text
      .replace(`media:${uploaded.id}`, `./media/${uploaded.id}.png`)
      .replace(`media:${external.id.toUpperCase()}`, `./media/${external.id}.webp`),
  );
});

test('manifest.json has the documented fields, with sizes and digests', () => {
  const core = (type: string) => describeWidget(type, `widgets/${widgetId(type)}`);
  expect(manifest).toEqual({
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
      widgets: [core('Heading'), core('Poll'), core('Text')],
    },
    failedMedia: [],
    failedWidgets: [],
    attributions: [
      { mediaId: external.id, ...credit, text: 'B' },
      { mediaId: uploaded.id, ...credit },
    ],
  });
});

test('a published version keeps the widget releases that it was published with', () => {
  expect(file(`widgets/${widgetId('Poll')}.js`).toString()).toBe(pollJs.toString());
});

test('widget ids are the type in kebab-case and 8 hex digits', () => {
  expect(version.widgets.map((pin) => pin.widgetId)).toEqual([
    expect.stringMatching(/^heading-[0-9a-f]{8}$/),
    expect.stringMatching(/^poll-[0-9a-f]{8}$/),
    expect.stringMatching(/^text-[0-9a-f]{8}$/),
  ]);
});

test('the manifest names unknown media ids and widgets without a release, and the export succeeds', async () => {
  const unknown = randomUUID();
  const built = await buildPackage({
    blocks: () => [{ type: 'Nowhere', props: { id: 'a', src: `media:${unknown}` } }],
  });
  const incomplete = await buildVersion(harness, tenant.organization, built.path);
  const address = await harness.startApi();
  const { body } = await ask(address + exportPath(incomplete), { headers: tenant.headers });
  const entries = await readArchive(body);
  expect([...entries.keys()]).toEqual([
    'a-lesson-v1/media/',
    'a-lesson-v1/widgets/',
    'a-lesson-v1/lesson.json',
    'a-lesson-v1/manifest.json',
  ]);
  expect(entries.get('a-lesson-v1/lesson.json')?.toString()).toContain(`./media/${unknown}.bin`);
  expect(readJson(entries, 'a-lesson-v1/manifest.json')).toMatchObject({
    files: { media: [], widgets: [] },
    failedMedia: [
      { id: unknown, sourceUrl: null, localPath: `./media/${unknown}.bin`, reason: 'unknown_media' },
    ],
    failedWidgets: [{ widgetType: 'Nowhere', id: null, sourceUrl: null, reason: 'not_found' }],
  });
});

function describeMedium({ id, bytes }: { id: string; bytes: Buffer }, extension: string, mimeType: string) {
  const { size, sha256: digest } = digestOf(bytes);
  return { id, localPath: `./media/${id}.${extension}`, mimeType, size, sha256: digest };
}

function describeWidget(widgetType: string, name: string) {
  const [js, css] = [file(`${name}.js`), file(`${name}.css`)];
  return {
    widgetType,
    localPath: `./${name}.js`,
    cssLocalPath: `./${name}.css`,
    size: js.length,
    sha256: sha256(js),
    cssSize: css.length,
    cssSha256: sha256(css),
  };
}
