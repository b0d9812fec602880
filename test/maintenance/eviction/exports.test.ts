import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import { exportJobOf } from '../../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { digestOf } from '../../../shared/storage/digest.ts';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import { runExport } from '../../../worker/exports/job.ts';
import { startExportLab } from '../../exports/lab.ts';
import type { ExportLab } from '../../exports/lab.ts';
import { downloadExport } from '../../exports/exports.ts';
import { png } from '../../exports/pictures.ts';
import { filesBelow } from '../../storage/stores.ts';
import { buildLearnerToken, buildPackage, buildVersion, exportPath } from '../../support/factories.ts';
import { file } from '../../support/origin.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ageStore, evictorOf, joinStore, backdateUsage } from './evictable.ts';
import type { StoreClient } from './evictable.ts';

let lab: ExportLab;
let evicting: StoreClient;
beforeAll(async () => {
  lab = await startExportLab();
  await lab.harness.startWorker();
});
afterAll(() => lab.close());
beforeEach(async () => {
  evicting = await joinStore(lab.harness);
  await backdateUsage(lab.harness, evicting.redis);
});

/** A version with external media, which are in its archive in this order. */
async function build(paths: string[]): Promise<LessonVersion> {
  const ids = paths.map(() => randomUUID()).sort();
  const media = paths.map((path, index) => ({ id: ids[index] ?? '', sourceUrl: lab.origin.url(path) }));
  const built = await buildPackage({ media });
  return buildVersion(lab.harness, lab.organization, built.path);
}

/** Evicts all that may go, as if nothing had been used for hours but what is noted as in use from now on. */
async function evictAll(beforehand: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  await ageStore(lab.harness, evicting.redis, 180);
  await beforehand();
  await evictorOf(lab.harness, evicting, { maxAgeHours: 1 }).keepLimits();
}

const isCached = (picture: Buffer) => lab.harness.store.cache.has(digestOf(picture));

/** Whether a process says that a download is in use when nothing is known of it. */
async function isHeld({ redis, coordination }: StoreClient, picture: Buffer): Promise<boolean> {
  const used = `${lab.harness.config.redisPrefix}:${usageKeys.used}`;
  await redis.del(used);
  await coordination.usage.touchPinned();
  return (await redis.zscore(used, `cache:${digestOf(picture).sha256}`)) !== null;
}

test('an evicted export is built again, equal byte for byte, with what is downloaded again', async () => {
  lab.origin.serve('/again.png', png(31));
  const version = await build(['/again.png']);
  const first = await downloadExport(lab.api, version, lab.headers);
  await evictAll();
  const left = (await filesBelow(lab.harness.config.storeDir)).filter(
    (path) => !path.startsWith('v1/assets'),
  );
  expect(left).toEqual([]);
  expect((await downloadExport(lab.api, version, lab.headers)).bytes.equals(first.bytes)).toBe(true);
  expect(lab.origin.requests('/again.png')).toBe(2);
});

test('the files of a manifest stay as long as its addresses are good, though the archive goes', async () => {
  lab.origin.serve('/signed.png', png(32));
  const version = await build(['/signed.png']);
  const { files } = await downloadExport(lab.api, version, lab.headers);
  const address = `${lab.api}${exportPath(version).replace('export-zip', 'export-manifest')}`;
  const manifest = (await (await fetch(address, { headers: lab.headers })).json()) as {
    files: { lesson: { path: string; url: string }; media: { localPath: string; url: string }[] };
  };
  await evictAll();
  expect(await lab.harness.store.archives.open(exportJobOf(version).key)).toBeNull();
  const { lesson, media } = manifest.files;
  for (const { path, url } of [lesson, ...media.map(({ localPath, url }) => ({ path: localPath, url }))]) {
    const bytes = Buffer.from(await (await fetch(new URL(url, lab.api))).arrayBuffer());
    expect(bytes.equals(files.get(path.slice(2)) ?? Buffer.alloc(0)), path).toBe(true);
  }
});

test('a medium stays as long as the address is good that a learner was led to', async () => {
  lab.origin.serve('/learner.png', png(33));
  const built = await buildPackage({ media: [{ sourceUrl: lab.origin.url('/learner.png') }] });
  const version = await buildVersion(lab.harness, lab.organization, built.path);
  const token = buildLearnerToken(version);
  const path = `/api/public/lessons/${version.lessonId}/media/${built.mediaIds[0]}?token=${token}`;
  const redirect = await fetch(`${lab.api}${path}`, { redirect: 'manual' });
  await evictAll();
  const answer = await fetch(new URL(redirect.headers.get('location') ?? '', lab.api));
  expect(Buffer.from(await answer.arrayBuffer()).equals(png(33))).toBe(true);
});

test('what a running build has found stays until it is in the archive', async () => {
  let files = 0;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  lab.origin.serve('/written.png', png(36));
  lab.origin.serve('/found.png', png(34));
  lab.origin.script('/held.png', async (request, response) => {
    await released;
    await file(png(35))(request, response);
  });
  const version = await build(['/written.png', '/held.png', '/found.png']);
  const builder = await joinStore(lab.harness);
  const downloader = createDownloader(lab.harness.config.download);
  const building = runExport({ ...lab.harness, ...builder, downloader }, exportJobOf(version), {
    signal: new AbortController().signal,
    onProgress: ({ done }) => (files = done),
  });
  await waitFor('the first file in the archive', () => files === 1);
  await waitFor('a download under way', () => lab.origin.requests('/held.png') === 1);
  await waitFor('the file after it', () => isHeld(builder, png(34)));
  await evictAll(() => builder.coordination.usage.touchPinned());
  expect(await isCached(png(34))).toBe(true);
  expect(await isCached(png(36))).toBe(false);

  release();
  expect(await building).toMatchObject({ failures: 0 });
  await evictAll(() => builder.coordination.usage.touchPinned());
  expect(await isCached(png(34))).toBe(false);
  downloader.close();
});
