import { expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../../shared/storage/digest.ts';
import { ageFiles, evictorOf, joinStore, startEviction, storeArchive, storeDownload } from './evictable.ts';
import type { StoredFile } from './evictable.ts';

const KB = 1000;
const hour = 60;

const there = (files: StoredFile[]) => Promise.all(files.map((file) => file.isThere()));

test('a store within its limits keeps everything', async () => {
  const { harness, worker } = await startEviction();
  const files = [await storeDownload(harness, 40 * KB, 2), await storeArchive(harness, 60 * KB, 3)];
  const evictor = evictorOf(harness, worker, { maxBytes: 100 * KB, maxAgeHours: 1 });
  expect(await evictor.keepLimits()).toEqual({ files: 0, bytes: 0 });
  expect(await there(files)).toEqual([true, true]);
});

test('over its size a store loses what was used longest ago, archives and downloads alike, down to nine tenths', async () => {
  const { harness, worker } = await startEviction();
  const files = [
    await storeDownload(harness, 30 * KB, 50),
    await storeArchive(harness, 30 * KB, 40),
    await storeDownload(harness, 30 * KB, 30),
    await storeArchive(harness, 30 * KB, 20),
  ];
  const evictor = evictorOf(harness, worker, { maxBytes: 100 * KB });
  expect(await evictor.keepLimits()).toEqual({ files: 1, bytes: 30 * KB });
  expect(await there(files)).toEqual([false, true, true, true]);
  expect(await evictor.keepLimits()).toEqual({ files: 0, bytes: 0 });
});

test('what was used counts, not what was stored', async () => {
  const { harness, worker } = await startEviction();
  const files = [await storeDownload(harness, 60 * KB, 50), await storeDownload(harness, 60 * KB, 40)];
  await ageFiles(harness, worker.redis, [files[0]?.name ?? 'cache:'], 10);
  await evictorOf(harness, worker, { maxBytes: 100 * KB }).keepLimits();
  expect(await there(files)).toEqual([true, false]);
});

test('beyond its age a file goes, however small the store is', async () => {
  const { harness, worker } = await startEviction();
  const files = [
    await storeDownload(harness, KB, 3 * hour),
    await storeArchive(harness, KB, 3 * hour),
    await storeArchive(harness, KB, hour),
  ];
  await evictorOf(harness, worker, { maxAgeHours: 2 }).keepLimits();
  expect(await there(files)).toEqual([false, false, true]);
});

test('uploaded media never go, and do not count', async () => {
  const { harness, worker } = await startEviction();
  const upload = Buffer.alloc(200 * KB, 'u');
  await harness.store.assets.put(bytesOf(upload));
  const file = await storeDownload(harness, 50 * KB, 30 * hour);
  await evictorOf(harness, worker, { maxBytes: 100 * KB }).keepLimits();
  expect(await file.isThere()).toBe(true);
  expect(await harness.store.assets.has(digestOf(upload))).toBe(true);
});

test('more files than one look at Redis takes all go', async () => {
  const { harness, worker } = await startEviction();
  const files: StoredFile[] = [];
  for (let count = 0; count < 120; count += 1) files.push(await storeDownload(harness, 10, 3 * hour));
  expect(await evictorOf(harness, worker, { maxAgeHours: 2 }).keepLimits()).toEqual({
    files: 120,
    bytes: 1200,
  });
});

test('on a full disk room is made at once, without any limit', async () => {
  const { harness, worker } = await startEviction();
  const files = [
    await storeDownload(harness, 30 * KB, 50),
    await storeArchive(harness, 30 * KB, 40),
    await storeDownload(harness, 30 * KB, 30),
  ];
  await evictorOf(harness, worker, {}).makeRoom(50 * KB);
  expect(await there(files)).toEqual([false, false, true]);
});

test('one evictor at a time: another does nothing meanwhile', async () => {
  const { harness, worker } = await startEviction();
  const other = await joinStore(harness);
  await storeDownload(harness, KB, 3 * hour);
  let second: unknown;
  const store = {
    ...harness.store,
    cache: {
      ...harness.store.cache,
      delete: async (sha256: string) => {
        second = await evictorOf(harness, other, { maxAgeHours: 2 }).keepLimits();
        await harness.store.cache.delete(sha256);
      },
    },
  };
  const first = await evictorOf(harness, worker, { maxAgeHours: 2, store }).keepLimits();
  expect(first).toEqual({ files: 1, bytes: KB });
  expect(second).toBeNull();
});

test('of all workers one takes its turn', async () => {
  const { harness, worker } = await startEviction();
  const other = await joinStore(harness);
  await storeDownload(harness, KB, 3 * hour);
  expect(await evictorOf(harness, worker, { maxAgeHours: 2 }).takeTurn()).toEqual({ files: 1, bytes: KB });
  expect(await evictorOf(harness, other, { maxAgeHours: 2 }).takeTurn()).toBeNull();
});

test('a file that cannot be removed stays, can be used at once, and the others go', async () => {
  const { harness, worker } = await startEviction();
  const other = await joinStore(harness);
  const [stuck, free] = [
    await storeDownload(harness, KB, 3 * hour),
    await storeDownload(harness, KB, 3 * hour),
  ];
  const store = {
    ...harness.store,
    cache: {
      ...harness.store.cache,
      delete: (sha256: string) =>
        sha256 === stuck.digest.sha256
          ? Promise.reject(new Error('permission denied'))
          : harness.store.cache.delete(sha256),
    },
  };
  await expect(evictorOf(harness, worker, { maxAgeHours: 2, store }).keepLimits()).rejects.toThrow(
    'permission denied',
  );
  expect(await other.store.cache.has(stuck.digest)).toBe(true);
  expect(await free.isThere()).toBe(false);
});
