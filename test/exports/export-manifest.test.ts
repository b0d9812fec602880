import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { buildPackage, buildVersion, manifestPath } from '../support/factories.ts';
import { answer, file } from '../support/origin.ts';
import { realLessons } from '../support/real-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { addressesOf, expectSameFiles, listFiles } from './manifests.ts';

const lessons = await realLessons();
const fourHours = 4 * 3_600_000;
const bytes = (text: string) => bytesOf(Buffer.from(text));

let lab: ExportLab;
/** With an upload, an external file, and a widget of the organization with a stylesheet. */
let version: LessonVersion;

beforeAll(async () => {
  lab = await startExportLab();
  await lab.harness.startWorker();
  const { organization, harness, origin } = lab;
  const release = {
    organizationId: organization._id,
    type: 'Dial',
    js: bytes('export {}'),
    css: bytes('a{}'),
  };
  await releaseWidget(harness.db, harness.store, release);
  origin.script('/far.png', file('far away', { contentType: 'image/png' }));
  const { path } = await buildPackage({
    media: [{ bytes: Buffer.from('uploaded') }, { sourceUrl: origin.url('/far.png') }],
    blocks: ([near, far]) => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${near}`, alt: '', caption: '' } },
      { type: 'Image', props: { id: 'Image-2', src: `media:${far}`, alt: '', caption: '' } },
      { type: 'Dial', props: { id: 'Dial-1' } },
    ],
  });
  version = await buildVersion(harness, organization, path);
});
afterAll(() => lab.close());

test.each(['', '?include=player'])(
  "every file, downloaded one by one, equals the archive's (%s)",
  async (query) => {
    const { listed, archive } = await expectSameFiles({ ...lab, query }, version);
    const styled = listed.files.widgets.filter(({ cssUrl }) => cssUrl !== undefined);
    expect(styled.map(({ widgetType }) => widgetType)).toContain('Dial');
    expect(listed.files.player?.length ?? 0).toBe(query === '' ? 0 : 7);
    expect(archive.files.has('index.html')).toBe(query !== '');
  },
);

describe.each(lessons)('$name', ({ path }) => {
  test("every file, downloaded one by one, equals the archive's", async () => {
    const real = await buildVersion(lab.harness, lab.organization, path, { asNew: true });
    await expectSameFiles(lab, real);
  });
});

test('the response contains everything in manifest.json, and the URLs expire in four hours', async () => {
  const before = Date.now();
  const { listed, archive } = await expectSameFiles(lab, version);
  const { files, ...rest } = listed;
  const { files: archived, ...archivedRest } = archive.manifest;
  expect(rest).toEqual(archivedRest);
  expect(files.media).toMatchObject(archived.media);
  expect(files.widgets).toMatchObject(archived.widgets);
  expect(files.lesson.path).toBe('./lesson.json');
  const ends = [files.lesson, ...files.media, ...files.widgets].map(({ expiresAt }) => Date.parse(expiresAt));
  for (const end of ends) {
    expect(end).toBeGreaterThan(before + fourHours - 1000);
    expect(end).toBeLessThanOrEqual(Date.now() + fourHours);
  }
  for (const url of addressesOf(listed).values())
    expect(Number(new URL(url).searchParams.get('expires')) * 1000).toBe(ends[0]);
});

test('HEAD returns the headers of GET, without the body', async () => {
  const head = await ask(lab.api + manifestPath(version), { method: 'HEAD', headers: lab.headers });
  expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
});

test('the URLs begin with PUBLIC_URL', async () => {
  const api = await lab.harness.startApi({ PUBLIC_URL: 'https://lectern.example/base' });
  const listed = await listFiles({ ...lab, api }, version);
  for (const url of addressesOf(listed).values())
    expect(url).toMatch(/^https:\/\/lectern\.example\/base\/assets\/v1\//);
});

test('files with signed URLs stay stored until the URLs expire', async () => {
  const listed = await listFiles(lab, version);
  const record = await lab.harness.db.exportRecords
    .findOne({ signedUntil: { $ne: null } })
    .sort('-signedUntil');
  expect(record?.signedUntil?.getTime()).toBeGreaterThanOrEqual(Date.parse(listed.files.lesson.expiresAt));
});

test('the endpoint restores files evicted since the build, without requests to their origins', async () => {
  const { db, store } = lab.harness;
  const requests = lab.origin.log.length;
  await listFiles(lab, version);
  for await (const page of store.cache.list()) {
    for (const { sha256 } of page) await store.cache.delete(sha256);
  }
  await expectSameFiles(lab, version);
  expect(lab.origin.log).toHaveLength(requests);
  expect(await db.exportRecords.countDocuments()).toBeGreaterThan(0);
});

test('an archive without its record is rebuilt, and its files are listed', async () => {
  await listFiles(lab, version);
  await lab.harness.db.exportRecords.deleteMany({});
  await expectSameFiles(lab, version);
});

test('an incomplete archive lists its files, and the missing ones as failed', async () => {
  lab.origin.script('/gone.png', answer(404));
  const media = [{ bytes: Buffer.from('there') }, { sourceUrl: lab.origin.url('/gone.png') }];
  const lacking = await buildVersion(lab.harness, lab.organization, (await buildPackage({ media })).path);
  const { listed } = await expectSameFiles(lab, lacking);
  expect(listed.failedMedia).toMatchObject([{ reason: 'not_found' }]);
  expect(listed.files.media).toHaveLength(1);
});

test("lesson.json is served as JSON, and the player's page never as HTML", async () => {
  const addresses = addressesOf(await listFiles({ ...lab, query: '?include=player' }, version));
  const typeOf = async (path: string) =>
    (await ask(addresses.get(path) ?? '', { method: 'HEAD' })).headers.get('content-type');
  expect(await typeOf('lesson.json')).toBe('application/json; charset=utf-8');
  expect(await typeOf('index.html')).toBe('application/octet-stream');
  const lesson = await ask(addresses.get('lesson.json') ?? '');
  expect(jsonOf(lesson)).toMatchObject({ lesson: { id: version.lessonId } });
});
