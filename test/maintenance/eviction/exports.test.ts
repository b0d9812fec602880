import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { exportJobOf } from '../../../shared/exports/jobs.ts';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { digestOf } from '../../../shared/storage/digest.ts';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import { buildIfMissing } from '../../../worker/exports/build-if-missing.ts';
import { downloadExport } from '../../exports/exports.ts';
import { png } from '../../exports/pictures.ts';
import { mediumPath } from '../../player/player-files.ts';
import { filesBelow } from '../../storage/stores.ts';
import { ask } from '../../support/answers.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  manifestPath,
} from '../../support/factories.ts';
import { file } from '../../support/origin.ts';
import { useOrigin } from '../../support/use.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ageStore, bytesIn, evictorOf, joinStore, KB, useEviction } from './evictable.ts';
import type { StoreClient } from './evictable.ts';
import { unknownBytes } from '../../support/factories.ts';

const origin = useOrigin();
const lab = useEviction(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host }));
type Tenant = Awaited<ReturnType<typeof buildOrganization>>;
let api: string;
let tenant: Tenant;
beforeAll(async () => {
  api = await lab.harness.startApi();
  await lab.harness.startWorker();
  tenant = await buildOrganization(lab.harness);
});

interface Lesson {
  version: LessonVersion;
  mediaIds: string[];
}

/** Publishes a lesson with external media, which are in its archive in this order. */
async function publish(paths: string[], { organization } = tenant): Promise<Lesson> {
  const ids = paths.map(() => randomUUID()).sort();
  const media = paths.map((path, index) => ({ id: ids[index] ?? '', sourceUrl: origin.url(path) }));
  const { path, mediaIds } = await buildPackage({ media });
  return { version: await buildVersion(lab.harness, organization, path), mediaIds };
}

/** Evicts everything, as if nothing had been used for hours except what `touch` touches. */
async function evictAll(touch: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  await ageStore(lab.harness, lab.worker.redis, 180);
  await touch();
  await evictorOf(lab.harness, lab.worker, { maxAgeHours: 1 }).keepLimits();
}

const isCached = (picture: Buffer) => lab.harness.store.cache.has(digestOf(picture));

async function manifestOf(version: LessonVersion, { headers } = tenant, from = api) {
  const { body } = await ask(from + manifestPath(version), { headers });
  return JSON.parse(body.toString()) as {
    files: { lesson: { path: string; url: string }; media: { localPath: string; url: string }[] };
  };
}

/** Requests the medium of a lesson like a learner; returns its signed URL. */
async function mediumUrl({ version, mediaIds: [mediaId = ''] }: Lesson, from = api): Promise<string> {
  const { headers } = await ask(from + mediumPath(version, mediaId));
  return new URL(headers.get('location') ?? '', from).href;
}

test('an evicted export is built again, byte for byte, with media that are downloaded again', async () => {
  origin.serve('/again.png', png(31));
  const { version } = await publish(['/again.png']);
  const first = await downloadExport(api, version, tenant.headers);
  await evictAll();
  const left = await filesBelow(lab.harness.config.storeDir);
  expect(left.filter((path) => !path.startsWith('v1/assets'))).toEqual([]);
  expect((await downloadExport(api, version, tenant.headers)).bytes.equals(first.bytes)).toBe(true);
  expect(origin.requests('/again.png')).toBe(2);
});

test('files stay while URLs of manifests and learners name them, even if the archive is evicted', async () => {
  origin.serve('/signed.png', png(32));
  origin.serve('/learner.png', png(33));
  const { version } = await publish(['/signed.png']);
  const { files } = await downloadExport(api, version, tenant.headers);
  const { lesson, media } = (await manifestOf(version)).files;
  const learnersUrl = await mediumUrl(await publish(['/learner.png']));
  await evictAll();
  expect(await lab.harness.store.archives.open(exportJobOf(version).key)).toBeNull();
  const named = [lesson, ...media.map(({ localPath, url }) => ({ path: localPath, url }))];
  for (const { path, url } of named) {
    const { body } = await ask(new URL(url, api).href);
    expect(body.equals(files.get(path.slice(2)) ?? Buffer.alloc(0)), path).toBe(true);
  }
  expect((await ask(learnersUrl)).body.equals(png(33))).toBe(true);
});

test('the files of a running build stay until they are in the archive', async () => {
  let entries = 0;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  origin.serve('/written.png', png(36));
  origin.serve('/found.png', png(34));
  origin.script('/held.png', async (request, response) => {
    await released;
    await file(png(35))(request, response);
  });
  const { version } = await publish(['/written.png', '/held.png', '/found.png']);
  const builder = await joinStore(lab.harness);
  const downloader = createDownloader(lab.harness.config.download);
  const building = buildIfMissing({ ...lab.harness, ...builder, downloader }, exportJobOf(version), {
    signal: new AbortController().signal,
    onProgress: ({ done }) => (entries = done),
  });
  const touch = () => builder.coordination.usage.touchPinned();
  await waitFor('the first file in the archive', () => entries === 1);
  await waitFor('the download', () => origin.requests('/held.png') === 1);
  await waitFor('the pin of the file after it', () => isPinned(builder, png(34)));
  await evictAll(touch);
  expect([await isCached(png(34)), await isCached(png(36))]).toEqual([true, false]);

  release();
  expect(await building).toMatchObject({ failures: 0 });
  await evictAll(touch);
  expect(await isCached(png(34))).toBe(false);
  downloader.close();
});

/** Returns whether a process touches a download that has no recorded use. */
async function isPinned({ redis, coordination }: StoreClient, picture: Buffer): Promise<boolean> {
  const used = lab.key(usageKeys.used);
  await redis.del(used);
  await coordination.usage.touchPinned();
  return (await redis.zscore(used, `cache:${digestOf(picture).sha256}`)) !== null;
}

test('an organization whose media change at each download fills its own share, and evicts no other archive', async () => {
  const picture = { contentType: 'image/png' };
  origin.serve('/steady', unknownBytes(30 * KB), picture);
  origin.script('/changing', (...exchange) => file(unknownBytes(30 * KB), picture)(...exchange));
  const build = async (...paths: string[]) => {
    const owner = await buildOrganization(lab.harness);
    const { version } = await publish(paths, owner);
    const get = () => ask(api + exportPath(version), { headers: owner.headers });
    return { key: exportJobOf(version).key, get };
  };
  const honest = await build('/steady');
  const hostile = await build('/changing', '/dead');
  const first = await honest.get();
  await ageStore(lab.harness, lab.worker.redis, 60);

  for (let count = 0; count < 6; count += 1) {
    expect((await hostile.get()).status).toBe(200);
    await lab.worker.redis.hincrby(lab.key(`incomplete:${hostile.key}`), 'at', -3_600_000);
  }
  expect(origin.requests('/changing')).toBe(6);
  await ageStore(lab.harness, lab.worker.redis, 0);
  await ageStore(lab.harness, lab.worker.redis, 5);
  // Each archive also has about 70 kB of widgets.
  const maxBytes = 460 * KB;
  await evictorOf(lab.harness, lab.worker, { maxBytes }).keepLimits();

  const left = await lab.harness.store.archives.open(honest.key);
  await left?.close();
  expect(left?.sha256).toBe(first.headers.get('etag')?.slice(1, -1));
  expect(await bytesIn(lab.harness.store)).toBeLessThan(maxBytes);
});

test('renewed manifests and links do not keep a store above its limit, and evicted files return on request', async () => {
  // An API touches an archive every 20 seconds at most; another one touches it again.
  const other = await lab.harness.startApi();
  const build = async (...paths: string[]) => {
    const owner = await buildOrganization(lab.harness);
    const lessons: Lesson[] = [];
    for (const path of paths) {
      origin.serve(path, unknownBytes(200 * KB), { contentType: 'image/png' });
      lessons.push(await publish([path], owner));
    }
    /** Renews manifests and links; returns the signed URLs of the media. */
    return async (from: string) => {
      const urls: string[] = [];
      for (const lesson of lessons) {
        const { media } = (await manifestOf(lesson.version, owner, from)).files;
        urls.push(...media.map(({ url }) => new URL(url, from).href), await mediumUrl(lesson, from));
      }
      return urls;
    };
  };
  const statuses = (urls: string[]) => Promise.all(urls.map(async (url) => (await ask(url)).status));
  const renewHonest = await build('/honest.png');
  const renewHostile = await build('/1.png', '/2.png', '/3.png', '/4.png', '/5.png');
  const signed = await renewHonest(api);
  await renewHostile(api);
  // Both did that long ago, and one does it again right before the eviction.
  await ageStore(lab.harness, lab.worker.redis, 180);
  const urls = await renewHostile(other);
  const maxBytes = 1200 * KB;
  expect(await bytesIn(lab.harness.store)).toBeGreaterThan(2 * maxBytes);
  await evictorOf(lab.harness, lab.worker, { maxBytes }).keepLimits();

  expect(await bytesIn(lab.harness.store)).toBeLessThanOrEqual(maxBytes);
  expect(await statuses(signed)).toEqual(signed.map(() => 200));
  expect(await statuses(urls)).toContain(404);
  expect(await statuses(await renewHostile(other))).toEqual(urls.map(() => 200));
});
