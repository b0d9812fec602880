import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { listAll } from '../storage/aging.ts';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { manifestPath } from '../support/factories.ts';
import { answer, file } from '../support/origin.ts';
import { environmentOf } from '../support/s3-server.ts';
import { useStarted } from '../support/use.ts';
import { expectSameFiles, listFiles, urlsOf } from './exports.ts';
import { startExportLab, useExportLab } from './lab.ts';
import { pngWith } from './pictures.ts';

const fourHoursMs = 4 * 3_600_000;

describe('the export manifest', () => {
  const lab = useExportLab({}, { worker: true });
  /** With an upload, an external file, and a widget of the organization with a stylesheet. */
  let version: LessonVersion;

  beforeAll(async () => {
    const { organization, harness, origin } = lab;
    await releaseWidget(harness.db, harness.store, {
      organizationId: organization._id,
      type: 'Dial',
      js: bytesOf(Buffer.from('export {}')),
      css: bytesOf(Buffer.from('a{}')),
    });
    origin.script('/far.png', file('far away', { contentType: 'image/png' }));
    version = await lab.publish({
      media: [{ bytes: pngWith('uploaded') }, { sourceUrl: origin.url('/far.png') }],
      blocks: ([near, far]) => [
        { type: 'Image', props: { id: 'Image-1', src: `media:${near}`, alt: '', caption: '' } },
        { type: 'Image', props: { id: 'Image-2', src: `media:${far}`, alt: '', caption: '' } },
        { type: 'Dial', props: { id: 'Dial-1' } },
      ],
    });
  });

  test("has a URL without credentials for every file, and each equals the archive's", async () => {
    const { listed, archive } = await lab.downloadBoth(version, '?include=player');
    const styled = listed.files.widgets.filter(({ cssUrl }) => cssUrl !== undefined);
    expect(styled.map(({ widgetType }) => widgetType)).toContain('Dial');
    expect(listed.files.player).not.toEqual([]);
    expect(archive.files.has('index.html')).toBe(true);
  });

  test('contains everything in manifest.json, and URLs that expire in four hours', async () => {
    const before = Date.now();
    const { listed, archive } = await lab.downloadBoth(version);
    const { files, ...rest } = listed;
    const { files: archived, ...archivedRest } = archive.manifest;
    expect(rest).toEqual(archivedRest);
    expect(files.media).toMatchObject(archived.media);
    expect(files.widgets).toMatchObject(archived.widgets);
    expect(files.lesson.path).toBe('./lesson.json');
    const ends = [files.lesson, ...files.media, ...files.widgets].map(({ expiresAt }) =>
      Date.parse(expiresAt),
    );
    for (const end of ends) {
      expect(end).toBeGreaterThan(before + fourHoursMs - 1000);
      expect(end).toBeLessThanOrEqual(Date.now() + fourHoursMs);
    }
    for (const url of urlsOf(listed).values())
      expect(Number(new URL(url).searchParams.get('expires')) * 1000).toBe(ends[0]);
  });

  test('supports HEAD, and its URLs begin with PUBLIC_URL', async () => {
    const head = await lab.get(version, { pathOf: manifestPath, method: 'HEAD' });
    expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
    const api = await lab.harness.startApi({ PUBLIC_URL: 'https://lectern.example/base' });
    for (const url of urlsOf(await listFiles({ ...lab, api }, version)).values())
      expect(url).toMatch(/^https:\/\/lectern\.example\/base\/assets\/v1\//);
  });

  test('restores files evicted since the build, without requests to their origins', async () => {
    const { db, store } = lab.harness;
    const requests = lab.origin.log.length;
    await listFiles(lab, version);
    const copies = (await listAll(store.copies)).filter(({ name }) => name.startsWith('cache/'));
    for (const copy of copies) await store.copies.evict(copy, new Date());
    expect(copies.length).toBeGreaterThan(0);
    await lab.downloadBoth(version);
    expect(lab.origin.log).toHaveLength(requests);
    expect(await db.exportRecords.countDocuments()).toBeGreaterThan(0);
  });

  test('rebuilds an archive without its record', async () => {
    await listFiles(lab, version);
    await lab.harness.db.exportRecords.deleteMany({});
    await lab.downloadBoth(version);
  });

  test('has the files of an incomplete archive, and names the missing ones as failed', async () => {
    lab.origin.script('/gone.png', answer(404));
    const media = [{ bytes: pngWith('there') }, { sourceUrl: lab.origin.url('/gone.png') }];
    const { listed } = await lab.downloadBoth(await lab.publish({ media }));
    expect(listed.failedMedia).toMatchObject([{ reason: 'not_found' }]);
    expect(listed.files.media).toHaveLength(1);
  });

  test("has lesson.json as JSON, and the player's page never as HTML", async () => {
    const urls = urlsOf(await listFiles({ ...lab, query: '?include=player' }, version));
    const typeOf = async (path: string) =>
      (await ask(urls.get(path) ?? '', { method: 'HEAD' })).headers.get('content-type');
    expect(await typeOf('lesson.json')).toBe('application/json; charset=utf-8');
    expect(await typeOf('index.html')).toBe('application/octet-stream');
    const lesson = await ask(urls.get('lesson.json') ?? '');
    expect(jsonOf(lesson)).toMatchObject({ lesson: { id: version.lessonId } });
  });
});

const s3Server = useS3Server();

describe.skipIf(s3Server === null)(`with files in ${s3Name}`, () => {
  const lab = useStarted(
    async () => {
      if (s3Server === null) throw new Error('There is no S3 server');
      const { settings } = await s3Server();
      const started = await startExportLab(environmentOf({ ...settings, prefix: `${randomUUID()}/` }));
      await started.harness.startWorker();
      return started;
    },
    (started) => started.close(),
  );

  test("every file of a lesson equals the archive's, through the API or directly from the bucket", async () => {
    const version = await lab.build(pngWith('one'), pngWith('two'));
    const { listed } = await lab.downloadBoth(version);
    for (const url of urlsOf(listed).values()) expect(url.startsWith(lab.api)).toBe(true);
    const api = await lab.harness.startApi({ S3_PRESIGNED_READS: 'true' });
    const direct = await expectSameFiles({ ...lab, api }, version);
    for (const url of urlsOf(direct.listed).values()) expect(url.startsWith(lab.api)).toBe(false);
  });
});
