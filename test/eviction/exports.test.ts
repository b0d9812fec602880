import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createDownloader } from '../../shared/downloads/downloader.ts';
import { exportJobOf } from '../../shared/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { runExport } from '../../worker/jobs/export.ts';
import { downloadExport } from '../export/exports.ts';
import { png } from '../export/pictures.ts';
import { filesBelow } from '../storage/stores.ts';
import {
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { file, startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { ageStore, evictorOf, joinStore, knowUses } from './evictable.ts';
import type { Process } from './evictable.ts';

let origin: Origin;
let harness: Harness;
let api: string;
let tenant: Awaited<ReturnType<typeof buildOrganization>>;
let evicting: Process;
beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  api = await harness.startApi();
  await harness.startWorker();
  tenant = await buildOrganization(harness);
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});
beforeEach(async () => {
  evicting = await joinStore(harness);
  await knowUses(harness, evicting.redis);
});

async function build(paths: string[]): Promise<LessonVersion> {
  const built = await buildPackage({ media: paths.map((path) => ({ sourceUrl: origin.url(path) })) });
  return buildVersion(harness, tenant.organization, built.path);
}

/** Evicts all that may go, as if nothing had been used for hours but what is noted as in use from now on. */
async function evictAll(beforehand: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  await ageStore(harness, evicting.redis, 180);
  await beforehand();
  await evictorOf(harness, evicting, { maxAgeHours: 1 }).keepLimits();
}

const isCached = (picture: Buffer) => harness.store.cache.has(digestOf(picture));

test('an evicted export is built again, equal byte for byte, with what is downloaded again', async () => {
  origin.serve('/again.png', png(31));
  const version = await build(['/again.png']);
  const first = await downloadExport(api, version, tenant.headers);
  await evictAll();
  const left = (await filesBelow(harness.config.storeDir)).filter((path) => !path.startsWith('v1/assets'));
  expect(left).toEqual([]);
  expect((await downloadExport(api, version, tenant.headers)).bytes.equals(first.bytes)).toBe(true);
  expect(origin.requests('/again.png')).toBe(2);
});

test('the files of a manifest stay as long as its addresses are good, though the archive goes', async () => {
  origin.serve('/signed.png', png(32));
  const version = await build(['/signed.png']);
  const { files } = await downloadExport(api, version, tenant.headers);
  const address = `${api}${exportPath(version).replace('export-zip', 'export-manifest')}`;
  const manifest = (await (await fetch(address, { headers: tenant.headers })).json()) as {
    files: { lesson: { path: string; url: string }; media: { localPath: string; url: string }[] };
  };
  await evictAll();
  expect(await harness.store.archives.open(exportJobOf(version).key)).toBeNull();
  const { lesson, media } = manifest.files;
  for (const { path, url } of [lesson, ...media.map(({ localPath, url }) => ({ path: localPath, url }))]) {
    const bytes = Buffer.from(await (await fetch(new URL(url, api))).arrayBuffer());
    expect(bytes.equals(files.get(path.slice(2)) ?? Buffer.alloc(0)), path).toBe(true);
  }
});

test('a medium stays as long as the address is good that a learner was led to', async () => {
  origin.serve('/learner.png', png(33));
  const built = await buildPackage({ media: [{ sourceUrl: origin.url('/learner.png') }] });
  const version = await buildVersion(harness, tenant.organization, built.path);
  const token = buildLearnerToken(version);
  const path = `/api/public/lessons/${version.lessonId}/media/${built.mediaIds[0]}?token=${token}`;
  const redirect = await fetch(`${api}${path}`, { redirect: 'manual' });
  await evictAll();
  const answer = await fetch(new URL(redirect.headers.get('location') ?? '', api));
  expect(Buffer.from(await answer.arrayBuffer()).equals(png(33))).toBe(true);
});

test('what a running build has found stays until it is in the archive', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  origin.serve('/found.png', png(34));
  origin.script('/held.png', async (request, response) => {
    await released;
    await file(png(35))(request, response);
  });
  const version = await build(['/found.png', '/held.png']);
  const builder = await joinStore(harness);
  const downloader = createDownloader(harness.config.download);
  const building = runExport({ ...harness, ...builder, downloader }, exportJobOf(version), {
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  await waitFor('the first file', () => isCached(png(34)));
  await waitFor('the second download', () => origin.requests('/held.png') === 1);
  await evictAll(() => builder.sharing.uses.noteHeld());
  expect(await isCached(png(34))).toBe(true);

  release();
  expect(await building).toMatchObject({ failures: 0 });
  await evictAll(() => builder.sharing.uses.noteHeld());
  expect(await isCached(png(34))).toBe(false);
  downloader.close();
});
