import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import type { Digest, Store } from '../../../shared/storage/store.ts';
import { trackUsage } from '../../../shared/storage/tracked-store.ts';
import { storeKinds } from '../../storage/kinds.ts';
import { readAndClose } from '../../storage/stores.ts';
import {
  agedStore,
  bytesIn,
  evictorOf,
  existing,
  inHours,
  KB,
  namesOf,
  signFor,
  storeArchive,
  storeDownload,
  useEviction,
} from './evictable.ts';
import type { StoredFile } from './evictable.ts';

const lab = useEviction();
const maxBytes = 150 * KB;

const usage = () => lab.worker.coordination.usage;
const own = (organizationId: string, ...files: StoredFile[]) =>
  usage().addOwner(organizationId, namesOf(...files));
const evict = (store?: Store) =>
  evictorOf(lab.harness, lab.worker, { maxBytes, ...(store && { store }) }).keepLimits();

describe.each(storeKinds)('$name', ({ skip, start }) => {
  const nameOf = ({ sha256 }: Digest): EvictableFile => `cache:${sha256}`;
  const put = async (store: Store, count: number, size: number) => {
    const digests: Digest[] = [];
    while (digests.length < count) digests.push(await store.cache.put(bytesOf(randomBytes(size))));
    return { digests, names: digests.map(nameOf) };
  };

  test.skipIf(skip)(
    'an organization that renews URLs for more than the whole store keeps its share, and others keep theirs',
    async () => {
      const { store } = await start();
      const hostile = await put(store, 6, 30 * KB);
      const honest = await put(store, 2, 20 * KB);
      await usage().addOwner('hostile', hostile.names);
      await usage().addOwner('honest', honest.names);
      await usage().pinUntil(honest.names, inHours(1));
      const [openDigest] = hostile.digests as [Digest];
      const open = await trackUsage(store, usage()).cache.open(openDigest);
      let renewals = 0;
      const renew = () => {
        renewals += 1;
        return usage().pinUntil(hostile.names, new Date(inHours(2).getTime() + renewals));
      };
      await renew();
      const aged = agedStore(store);
      async function* list() {
        await renew();
        yield* aged.cache.list();
        await renew();
      }
      for (let run = 0; run < 2; run += 1) {
        await evict({ ...aged, cache: { ...aged.cache, list } });
        expect(await bytesIn(store)).toBeLessThanOrEqual(maxBytes);
      }

      expect(renewals).toBeGreaterThan(5);
      const kept = async (digests: Digest[]) =>
        (await Promise.all(digests.map((one) => store.cache.has(one)))).filter((one) => one).length;
      expect(await kept(honest.digests)).toBe(2);
      expect((await kept(hostile.digests)) * 30 * KB).toBeGreaterThanOrEqual(maxBytes / 2);
      // The open file is among them.
      expect(await readAndClose(open)).toHaveLength(30 * KB);
      expect(await store.cache.has(openDigest)).toBe(true);
    },
  );
});

test('files without URLs are evicted before files with URLs', async () => {
  const { harness } = lab;
  const named = await storeDownload(harness, 60 * KB, 90);
  const others = [await storeDownload(harness, 60 * KB, 10), await storeArchive(harness, 60 * KB, 5)];
  await own('large', named, ...others);
  await usage().pinUntil([named.name], inHours(1));
  await evict();
  expect(await existing([named, ...others])).toEqual([true, false, true]);
});

test('an archive over its share is evicted even if it was just read, and is read to its end', async () => {
  const { harness } = lab;
  const [first, second] = [
    await storeArchive(harness, 100 * KB, 90),
    await storeArchive(harness, 100 * KB, 80),
  ];
  await own('large', first, second);
  const open = await lab.worker.store.archives.open(first.key);
  await usage().touch([second.name]);
  await evict();
  expect(await bytesIn(harness.store)).toBeLessThanOrEqual(maxBytes);
  expect(await readAndClose(open)).toHaveLength(100 * KB);
});

test('a pinned file that another organization begins to use is not removed for its first owner', async () => {
  const { store } = lab.harness;
  const files = [
    await storeDownload(lab.harness, 100 * KB, 90),
    await storeDownload(lab.harness, 100 * KB, 80),
  ];
  await own('hostile', ...files);
  await usage().pinUntil(namesOf(...files), inHours(1));
  let lists = 0;
  async function* list() {
    yield* store.cache.list();
    lists += 1;
    // Removals follow the second list.
    if (lists === 2) await own('honest', ...files);
  }
  await evict({ ...store, cache: { ...store.cache, list } });
  expect(await existing(files)).toEqual([true, true]);
});

test('pins of the previous release, uses in the future, still keep files within the share', async () => {
  const { harness, worker } = lab;
  const honest = await storeDownload(harness, 30 * KB, 90);
  const hostile = [await storeDownload(harness, 90 * KB, 90), await storeDownload(harness, 90 * KB, 80)];
  await own('honest', honest);
  await own('hostile', ...hostile);
  const names = namesOf(honest, ...hostile);
  const used = lab.key(usageKeys.used);
  for (const name of names) await worker.redis.zadd(used, inHours(1).getTime(), name);

  const evictor = evictorOf(harness, worker, { maxBytes, maxAgeHours: 1 });
  // Their last use is unknown, so all count as used for a minute.
  await evictor.keepLimits();
  for (const name of names) {
    expect(Number(await worker.redis.zscore(used, name))).toBeLessThanOrEqual(Date.now());
    await worker.redis.zadd(used, inHours(-1.5).getTime(), name);
  }
  await evictor.keepLimits();
  expect(await honest.exists()).toBe(true);
  expect(await bytesIn(harness.store)).toBeLessThanOrEqual(maxBytes);
});

test('files in manifests count for the organization that requested them, even if Redis lost everything', async () => {
  const honest = await storeDownload(lab.harness, 60 * KB, 90);
  const hostile = await storeDownload(lab.harness, 100 * KB, 80);
  await signFor(lab.harness, honest, inHours(1), 'honest');
  await signFor(lab.harness, hostile, inHours(1), 'hostile');
  await evict();
  expect(await existing([honest, hostile])).toEqual([true, false]);
});
