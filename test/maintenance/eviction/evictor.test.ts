import { describe, expect, test } from 'vitest';
import { incompleteKey } from '../../../shared/exports/jobs.ts';
import { bytesOf, digestOf } from '../../../shared/storage/digest.ts';
import type { BlobStore } from '../../../shared/storage/store.ts';
import {
  ageFiles,
  ageStore,
  evictorOf,
  existing,
  joinStore,
  KB,
  namesOf,
  storeArchive,
  storeDownload,
  useEviction,
} from './evictable.ts';
import type { StoredFile } from './evictable.ts';

const lab = useEviction({ DEGRADED_EXPORT_SECONDS: '60' });
const hour = 60;

const evict = (limits: { maxBytes?: number; maxAgeHours?: number }) =>
  evictorOf(lab.harness, lab.worker, limits).keepLimits();
const download = (size: number, minutes: number) => storeDownload(lab.harness, size, minutes);
const archive = (size: number, minutes: number) => storeArchive(lab.harness, size, minutes);
const own = (organizationId: string, ...files: StoredFile[]) =>
  lab.worker.coordination.usage.addOwner(organizationId, namesOf(...files));
/** The store with another removal of downloads. */
const storeWith = (remove: BlobStore['delete']) => {
  const { store } = lab.harness;
  return { ...store, cache: { ...store.cache, delete: remove } };
};

test('a store within its limits keeps everything', async () => {
  const files = [await download(40 * KB, 2), await archive(60 * KB, 3)];
  expect(await evict({ maxBytes: 100 * KB, maxAgeHours: 1 })).toEqual({ files: 0, bytes: 0 });
  expect(await existing(files)).toEqual([true, true]);
});

test('above its size a store loses the least recently used archives and downloads, down to nine tenths', async () => {
  const files = [
    await download(30 * KB, 50),
    await archive(30 * KB, 40),
    await download(30 * KB, 30),
    await archive(30 * KB, 20),
  ];
  expect(await evict({ maxBytes: 100 * KB })).toEqual({ files: 1, bytes: 30 * KB });
  expect(await existing(files)).toEqual([false, true, true, true]);
  expect(await evict({ maxBytes: 100 * KB })).toEqual({ files: 0, bytes: 0 });
});

test('the last use counts, not the time of storage', async () => {
  const files = [await download(60 * KB, 50), await download(60 * KB, 40)];
  await ageFiles(lab.harness, lab.worker.redis, namesOf(...files).slice(0, 1), 10);
  await evict({ maxBytes: 100 * KB });
  expect(await existing(files)).toEqual([true, false]);
});

test('files beyond the age are evicted from a store of any size', async () => {
  const files = [await download(KB, 3 * hour), await archive(KB, 3 * hour), await archive(KB, hour)];
  await evict({ maxAgeHours: 2 });
  expect(await existing(files)).toEqual([false, false, true]);
});

test('uploads are never evicted and do not count', async () => {
  const upload = Buffer.alloc(200 * KB, 'u');
  await lab.harness.store.assets.put(bytesOf(upload));
  const file = await download(50 * KB, 30 * hour);
  await evict({ maxBytes: 100 * KB });
  expect(await file.exists()).toBe(true);
  expect(await lab.harness.store.assets.has(digestOf(upload))).toBe(true);
});

test('eviction removes more files than one batch', async () => {
  for (let count = 0; count < 60; count += 1) await download(10, 3 * hour);
  expect(await evict({ maxAgeHours: 2 })).toEqual({ files: 60, bytes: 600 });
});

test('a full disk gets space immediately, without any limit', async () => {
  const files = [await download(30 * KB, 50), await archive(30 * KB, 40), await download(30 * KB, 30)];
  await evictorOf(lab.harness, lab.worker, {}).makeRoom(50 * KB);
  expect(await existing(files)).toEqual([false, false, true]);
});

test('one process evicts at a time, and one takes the turn of all workers', async () => {
  const other = await joinStore(lab.harness);
  await download(KB, 3 * hour);
  let second: unknown;
  const store = storeWith(async (sha256) => {
    second = await evictorOf(lab.harness, other, { maxAgeHours: 2 }).keepLimits();
    await lab.harness.store.cache.delete(sha256);
  });
  const evictor = evictorOf(lab.harness, lab.worker, { maxAgeHours: 2, store });
  expect(await evictor.keepLimitsIfDue()).toEqual({ files: 1, bytes: KB });
  expect(second).toBeNull();
  expect(await evictorOf(lab.harness, other, { maxAgeHours: 2 }).keepLimitsIfDue()).toBeNull();
});

test('a file whose removal fails stays usable, and the others are removed', async () => {
  const other = await joinStore(lab.harness);
  const [stuck, free] = [await download(KB, 3 * hour), await download(KB, 3 * hour)];
  const store = storeWith((sha256) =>
    sha256 === stuck.digest.sha256
      ? Promise.reject(new Error('permission denied'))
      : lab.harness.store.cache.delete(sha256),
  );
  const evicting = evictorOf(lab.harness, lab.worker, { maxAgeHours: 2, store }).keepLimits();
  await expect(evicting).rejects.toThrow('permission denied');
  expect(await other.store.cache.has(stuck.digest)).toBe(true);
  expect(await free.exists()).toBe(false);
});

test('an incomplete archive is removed once another build is due, and no other archive of its age', async () => {
  const { harness, worker } = lab;
  const { incomplete } = worker.coordination;
  const complete = await archive(10, 0);
  const [oldKey, youngKey] = [`x${'1'.repeat(40)}`, `x${'2'.repeat(40)}`];
  const old = await storeArchive(harness, 10, 0, incompleteKey(oldKey));
  await incomplete.record(oldKey);
  await worker.redis.hincrby(lab.key(`incomplete:${oldKey}`), 'at', -600_000);
  await ageStore(harness, worker.redis, 10);
  // Requests for an archive that is too old to be served are uses, too.
  await ageFiles(harness, worker.redis, namesOf(complete, old), 5);
  await incomplete.record(youngKey);
  const young = await storeArchive(harness, 10, 0, incompleteKey(youngKey));

  expect(await evict({ maxAgeHours: 720 })).toEqual({ files: 1, bytes: 10 });
  expect(await existing([old, young, complete])).toEqual([false, true, true]);
});

describe('organizations', () => {
  test('within their share keep old files, while others lose recent ones', async () => {
    const small = [await archive(20 * KB, 500), await download(20 * KB, 400)];
    const large = [await download(40 * KB, 30), await download(40 * KB, 20), await download(40 * KB, 10)];
    await own('small', ...small);
    await own('large', ...large);
    expect(await evict({ maxBytes: 100 * KB })).toEqual({ files: 2, bytes: 80 * KB });
    expect(await existing([...small, ...large])).toEqual([true, true, false, false, true]);
  });

  test('within their share keep the files that they share with others', async () => {
    const shared = await download(30 * KB, 500);
    const large = [await download(60 * KB, 30), await download(30 * KB, 10)];
    await own('small', shared);
    await own('large', shared, ...large);
    await evict({ maxBytes: 100 * KB });
    expect(await existing([shared, ...large])).toEqual([true, false, true]);
  });

  test('that are unknown count as one', async () => {
    const unknown = [await download(50 * KB, 30), await download(30 * KB, 10)];
    const known = await archive(30 * KB, 500);
    await own('small', known);
    await evict({ maxBytes: 100 * KB });
    expect(await existing([...unknown, known])).toEqual([false, true, true]);
  });

  test('that hold the most lose files on a full disk', async () => {
    const [small, large] = [await archive(20 * KB, 500), await download(60 * KB, 10)];
    await own('small', small);
    await own('large', large);
    await evictorOf(lab.harness, lab.worker, {}).makeRoom(10 * KB);
    expect(await existing([small, large])).toEqual([true, false]);
  });
});
