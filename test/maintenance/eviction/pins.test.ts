import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import { trackUsage } from '../../../shared/storage/tracked-store.ts';
import { bytesOf } from '../../../shared/storage/digest.ts';
import type { Digest, Store } from '../../../shared/storage/store.ts';
import { ask } from '../../support/answers.ts';
import { useStoreKinds } from '../../storage/kinds.ts';
import { read } from '../../storage/stores.ts';
import {
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
} from '../../support/factories.ts';
import { startOrigin } from '../../support/origin.ts';
import {
  agedStore,
  ageStore,
  bytesIn,
  evictorOf,
  signFor,
  startEviction,
  storeArchive,
  storeDownload,
} from './evictable.ts';

const KB = 1000;
const maxBytes = 150 * KB;
const hourMilliseconds = 3_600_000;

vi.setConfig({ testTimeout: 60_000 });

const nameOf = ({ sha256 }: Digest): EvictableFile => `cache:${sha256}`;

async function start(settings: Record<string, string> = {}) {
  const { harness, worker } = await startEviction(settings);
  const { usage: uses } = worker.coordination;
  return { harness, worker, uses, used: `${harness.config.redisPrefix}:${usageKeys.used}` };
}

async function put(store: Store, count: number, size: number): Promise<Digest[]> {
  const digests: Digest[] = [];
  while (digests.length < count) digests.push(await store.cache.put(bytesOf(randomBytes(size))));
  return digests;
}

const there = (store: Store, digests: Digest[]) => Promise.all(digests.map((one) => store.cache.has(one)));

describe.each(useStoreKinds())('$name', ({ skip, start: startStore }) => {
  test.skipIf(skip)(
    'an organization that renews URLs for more than the whole store keeps its share of them, and others keep theirs',
    async () => {
      const { harness, worker, uses } = await start();
      const { store } = await startStore();
      const hostile = await put(store, 6, 30 * KB);
      const honest = await put(store, 2, 20 * KB);
      await uses.addOwner('hostile', hostile.map(nameOf));
      await uses.addOwner('honest', honest.map(nameOf));
      await uses.pinUntil(honest.map(nameOf), new Date(Date.now() + hourMilliseconds));
      const open = await trackUsage(store, uses).cache.open(hostile[0] as Digest);
      let renewals = 0;
      const renew = () => {
        renewals += 1;
        return uses.pinUntil(hostile.map(nameOf), new Date(Date.now() + 2 * hourMilliseconds + renewals));
      };
      await renew();
      const aged = agedStore(store);
      async function* list() {
        await renew();
        yield* aged.cache.list();
        await renew();
      }
      const renewed = { ...aged, cache: { ...aged.cache, list } };

      for (let run = 0; run < 2; run += 1) {
        await evictorOf(harness, worker, { maxBytes, store: renewed }).keepLimits();
        expect(await bytesIn(store)).toBeLessThanOrEqual(maxBytes);
      }

      expect(renewals).toBeGreaterThan(5);
      expect(await there(store, honest)).toEqual([true, true]);
      const left = (await there(store, hostile)).filter((one) => one);
      expect(left.length * 30 * KB).toBeGreaterThanOrEqual(maxBytes / 2);
      // The one that is being read is among them.
      expect(await read(open)).toHaveLength(30 * KB);
      await open?.close();
      expect(await store.cache.has(hostile[0] as Digest)).toBe(true);
    },
  );
});

test('files that no URL names go before those that one names', async () => {
  const { harness, worker, uses } = await start();
  const named = await storeDownload(harness, 60 * KB, 90);
  const others = [await storeDownload(harness, 60 * KB, 10), await storeArchive(harness, 60 * KB, 5)];
  await uses.addOwner(
    'large',
    [named, ...others].map(({ name }) => name),
  );
  await uses.pinUntil([named.name], new Date(Date.now() + hourMilliseconds));
  await evictorOf(harness, worker, { maxBytes }).keepLimits();
  expect(await Promise.all([named, ...others].map((file) => file.isThere()))).toEqual([true, false, true]);
});

test('an archive that is over its share goes although it was just read, and is read to its end', async () => {
  const { harness, worker, uses } = await start();
  const [first, second] = [
    await storeArchive(harness, 100 * KB, 90),
    await storeArchive(harness, 100 * KB, 80),
  ];
  await uses.addOwner('large', [first.name, second.name]);
  const open = await worker.store.archives.open(first.key);
  await uses.touch([second.name]);
  await evictorOf(harness, worker, { maxBytes }).keepLimits();
  expect(await bytesIn(harness.store)).toBeLessThanOrEqual(maxBytes);
  expect(await read(open)).toHaveLength(100 * KB);
  await open?.close();
});

test('a pinned file that another organization begins to use is not removed for its first one', async () => {
  const { harness, worker, uses } = await start();
  const files = [await storeDownload(harness, 100 * KB, 90), await storeDownload(harness, 100 * KB, 80)];
  const names = files.map(({ name }) => name);
  await uses.addOwner('hostile', names);
  await uses.pinUntil(names, new Date(Date.now() + hourMilliseconds));
  let lists = 0;
  async function* list() {
    yield* harness.store.cache.list();
    lists += 1;
    // The files of the second list are removed when it has ended.
    if (lists === 2) await uses.addOwner('honest', names);
  }
  const store = { ...harness.store, cache: { ...harness.store.cache, list } };
  await evictorOf(harness, worker, { maxBytes, store }).keepLimits();
  expect(await Promise.all(files.map((file) => file.isThere()))).toEqual([true, true]);
});

test('URLs that the release before noted as uses in the future still keep files, within the share', async () => {
  const { harness, worker, uses, used } = await start();
  const honest = await storeDownload(harness, 30 * KB, 90);
  const hostile = [await storeDownload(harness, 90 * KB, 90), await storeDownload(harness, 90 * KB, 80)];
  await uses.addOwner('honest', [honest.name]);
  await uses.addOwner(
    'hostile',
    hostile.map(({ name }) => name),
  );
  const until = Date.now() + hourMilliseconds;
  for (const { name } of [honest, ...hostile]) await worker.redis.zadd(used, until, name);

  const evictor = evictorOf(harness, worker, { maxBytes, maxAgeHours: 1 });
  // When they were last read is not known, so all count as in use for a minute.
  await evictor.keepLimits();
  for (const { name } of [honest, ...hostile]) {
    expect(Number(await worker.redis.zscore(used, name))).toBeLessThanOrEqual(Date.now());
    await worker.redis.zadd(used, Date.now() - 90 * 60_000, name);
  }
  await evictor.keepLimits();
  expect(await honest.isThere()).toBe(true);
  expect(await bytesIn(harness.store)).toBeLessThanOrEqual(maxBytes);
});

test('manifests and links that are renewed do not keep a store above its limit; evicted files come back on request', async () => {
  const origin = await startOrigin();
  onTestFinished(() => origin.close());
  const { harness, worker } = await start({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  // An API notes the use of an archive every 20 seconds at most: another one notes it again.
  const [api, other] = [await harness.startApi(), await harness.startApi()];
  await harness.startWorker();
  const publish = async (...names: string[]) => {
    const { organization, headers } = await buildOrganization(harness);
    const lessons: { path: string; medium: string }[] = [];
    for (const name of names) {
      origin.serve(name, randomBytes(200 * KB), { contentType: 'image/png' });
      const built = await buildPackage({ media: [{ sourceUrl: origin.url(name) }] });
      const version = await buildVersion(harness, organization, built.path);
      const medium = `/api/public/lessons/${version.lessonId}/media/${built.mediaIds[0]}?token=${buildLearnerToken(version)}`;
      lessons.push({ path: exportPath(version).replace('export-zip', 'export-manifest'), medium });
    }
    /** Renews everything; returns the signed URLs of the media. */
    const renew = async (api: string) => {
      const urls: string[] = [];
      for (const { path, medium } of lessons) {
        const response = await ask(api + path, { headers });
        const { files } = JSON.parse(response.body.toString('utf8')) as {
          files: { media: { url: string }[] };
        };
        const link = await fetch(api + medium, { redirect: 'manual' });
        urls.push(...files.media.map(({ url }) => url), link.headers.get('location') ?? '');
      }
      return urls.map((url) => new URL(url, api).href);
    };
    return { renew };
  };
  const statuses = (urls: string[]) => Promise.all(urls.map(async (url) => (await fetch(url)).status));
  const honest = await publish('/honest.png');
  const hostile = await publish('/1.png', '/2.png', '/3.png', '/4.png', '/5.png');
  const signed = await honest.renew(api);
  await hostile.renew(api);
  // Both organizations did that long ago, and one does it again right before each look at the store.
  await ageStore(harness, worker.redis, 180);
  const urls = await hostile.renew(other);
  const limit = 1200 * KB;
  expect(await bytesIn(harness.store)).toBeGreaterThan(2 * limit);
  await evictorOf(harness, worker, { maxBytes: limit }).keepLimits();

  expect(await bytesIn(harness.store)).toBeLessThanOrEqual(limit);
  expect(await statuses(signed)).toEqual(signed.map(() => 200));
  expect(await statuses(urls)).toContain(404);
  expect(await statuses(await hostile.renew(other))).toEqual(urls.map(() => 200));
});

test('files that manifests name count for the organization that asked, also after Redis has lost everything', async () => {
  const { harness, worker } = await start();
  const honest = await storeDownload(harness, 60 * KB, 90);
  const hostile = await storeDownload(harness, 100 * KB, 80);
  const until = new Date(Date.now() + hourMilliseconds);
  await signFor(harness, honest, until, 'honest');
  await signFor(harness, hostile, until, 'hostile');
  await evictorOf(harness, worker, { maxBytes }).keepLimits();
  expect([await honest.isThere(), await hostile.isThere()]).toEqual([true, false]);
});
