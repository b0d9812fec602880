import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { MongoLastUses } from '../../shared/models/file-use.ts';
import { createDiskStore } from '../../shared/storage/disk-store.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import type { OpenFile, Store } from '../../shared/storage/store.ts';
import { keepLimits, makeRoom } from '../../worker/maintenance/evict.ts';
import { someBytes } from '../exports/archives.ts';
import { ageFolder, ageUses, listAll } from '../storage/aging.ts';
import { s3Name, startS3Store, useS3Server } from '../storage/kinds.ts';
import { readAndClose, storeArchive } from '../storage/stores.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();
const s3Server = useS3Server();
const KB = 1000;
const newKey = () => `x${randomUUID().replaceAll('-', '')}00000000`;

/** A store on which several processes work. */
interface EvictionLab {
  /** Opens the store in another process. */
  join: () => Promise<Store>;
  /** Lets time pass, for the last use of all copies. */
  pass: (hours: number) => Promise<void>;
}

async function startFolder(): Promise<EvictionLab> {
  const { storeDir } = harness.config;
  await rm(storeDir, { recursive: true, force: true });
  return {
    join: () => Promise.resolve(createDiskStore(storeDir)),
    pass: (hours) => ageFolder(storeDir, createDiskStore(storeDir).copies, hours),
  };
}

async function startBucket(): Promise<EvictionLab> {
  if (s3Server === null) throw new Error(s3Name);
  const server = await s3Server();
  await harness.db.fileUses.deleteMany({});
  const prefix = `${randomUUID()}/`;
  return {
    async join() {
      const lastUses = new MongoLastUses(harness.db);
      return (await startS3Store(server, { prefix }, {}, { lastUses })).store;
    },
    pass: (hours) => ageUses(harness.db, hours),
  };
}

const kinds = [
  { name: 'a folder', start: startFolder, skip: false },
  { name: s3Name, start: startBucket, skip: s3Server === null },
];

describe.each(kinds)('eviction from $name', ({ start, skip }) => {
  if (skip) return test.skip('the same guarantees');

  /** Stores a copy of a size; returns whether it is still there, without using it. */
  const puts = {
    async download(store: Store, size: number) {
      const { sha256 } = await store.cache.put(bytesOf(randomBytes(size)));
      return async () => (await listAll(store.copies)).some(({ name }) => name.endsWith(sha256));
    },
    async archive(store: Store, size: number) {
      const key = newKey();
      await storeArchive(store.archives, key, randomBytes(size));
      return () => store.archives.has(key);
    },
  };

  test('over the limit, the copies that were unused longest go, down to nine tenths, and none of the last day', async () => {
    const { join, pass } = await start();
    const store = await join();
    const upload = await store.assets.put(bytesOf(Buffer.alloc(200 * KB)));
    const remains: (() => Promise<boolean>)[] = [];
    for (const [kind, hours] of [
      ['download', 20],
      ['archive', 20],
      ['download', 10],
      ['archive', 13],
    ] as const) {
      remains.push(await puts[kind](store, 30 * KB));
      await pass(hours);
    }
    // They were last used 63, 43, 23 and 13 hours ago.
    const existing = () => Promise.all(remains.map((one) => one()));
    const limit = (maxBytes: number, maxAgeHours = 0) => keepLimits(store, { maxBytes, maxAgeHours });
    expect(await limit(120 * KB)).toEqual({ files: 0, bytes: 0 });
    expect(await limit(119 * KB)).toEqual({ files: 1, bytes: 30 * KB });
    expect(await existing()).toEqual([false, true, true, true]);
    expect(await limit(1)).toEqual({ files: 1, bytes: 30 * KB });
    expect(await existing()).toEqual([false, false, true, true]);
    await pass(24);
    expect(await limit(0, 100)).toEqual({ files: 0, bytes: 0 });
    expect(await limit(0, 40)).toEqual({ files: 1, bytes: 30 * KB });
    expect(await existing()).toEqual([false, false, false, true]);
    expect(await store.assets.has(upload)).toBe(true);
  });

  test('every use counts: a lookup, a read, and storing the same bytes again', async () => {
    const { join, pass } = await start();
    const first = await join();
    const [found, opened, again, unused] = [1, 2, 3, 4].map((seed) => someBytes(100, seed));
    const keys = { opened: newKey(), again: newKey(), unused: newKey() };
    for (const blob of [found, opened, again, unused]) await first.cache.put(bytesOf(blob as Buffer));
    for (const key of Object.values(keys)) await storeArchive(first.archives, key, unused as Buffer);
    await pass(48);
    const user = await join();
    await user.cache.has(digestOf(found as Buffer));
    await (await user.cache.open(digestOf(opened as Buffer)))?.close();
    await user.cache.put(bytesOf(again as Buffer));
    await (await user.archives.open(keys.opened))?.close();
    await storeArchive(user.archives, keys.again, unused as Buffer);

    expect(await keepLimits(first, { maxBytes: 1, maxAgeHours: 0 })).toEqual({ files: 2, bytes: 200 });
    const left = (await listAll(first.copies)).map(({ name }) => name.split('/').at(-1));
    const kept = [found, opened, again].map((blob) => digestOf(blob as Buffer).sha256);
    expect(left.toSorted()).toEqual([...kept, keys.opened, keys.again].toSorted());
  });

  test('a full disk gets room from what was unused for six hours or the longest build, never from younger copies', async () => {
    const { join, pass } = await start();
    const store = await join();
    const old = await puts.download(store, 30 * KB);
    await pass(3);
    const young = await puts.archive(store, 30 * KB);
    await pass(4);
    expect(await makeRoom(store, { bytes: 1, buildSeconds: 8 * 3600 })).toEqual({ files: 0, bytes: 0 });
    expect(await makeRoom(store, { bytes: 100 * KB, buildSeconds: 60 })).toEqual({
      files: 1,
      bytes: 30 * KB,
    });
    expect([await old(), await young()]).toEqual([false, true]);
  });

  test('while everything is evicted again and again, 20 readers and builds get whole files, and store them again', async () => {
    const { join } = await start();
    const blobs = Array.from({ length: 40 }, (_, seed) => someBytes(50_000, seed));
    const keys = blobs.map(newKey);
    let ended = false;
    const outcomes = { whole: 0, missing: 0 };
    /** Reads a file; false if it is missing or breaks off with an error. It is never other bytes. */
    const reads = async (file: OpenFile | null, bytes: Buffer) => {
      const got = file && (await readAndClose(file).catch(() => null));
      if (got !== null) expect(got.equals(bytes)).toBe(true);
      outcomes[got === null ? 'missing' : 'whole'] += 1;
      return got !== null;
    };
    const work = async (worker: number) => {
      const store = await join();
      for (let round = 0; round < 8; round += 1) {
        const index = (worker * 2 + round) % blobs.length;
        const [bytes, key] = [blobs[index] as Buffer, keys[index] as string];
        if (!(await reads(await store.cache.open(digestOf(bytes)), bytes)))
          expect(await store.cache.put(bytesOf(bytes))).toEqual(digestOf(bytes));
        if (!(await reads(await store.archives.open(key), bytes)))
          await storeArchive(store.archives, key, bytes);
      }
    };
    const evictor = await join();
    let evicted = 0;
    const evicting = (async () => {
      while (!ended) {
        // As if each copy had become unused right before it is evicted.
        const unusedSince = new Date(Date.now() + 3_600_000);
        for (const copy of await listAll(evictor.copies)) {
          if (await evictor.copies.evict(copy, unusedSince)) evicted += 1;
        }
        await nextTurn();
      }
    })();
    await Promise.all(Array.from({ length: 20 }, (_, worker) => work(worker)));
    ended = true;
    await evicting;
    expect(evicted).toBeGreaterThan(0);
    expect(outcomes.whole).toBeGreaterThan(0);
    expect(outcomes.missing).toBeGreaterThan(0);

    const store = await join();
    for (const [index, bytes] of blobs.slice(0, 3).entries()) {
      await store.cache.put(bytesOf(bytes));
      await storeArchive(store.archives, keys[index] as string, bytes);
      expect(await reads(await store.cache.open(digestOf(bytes)), bytes)).toBe(true);
      expect(await reads(await store.archives.open(keys[index] as string), bytes)).toBe(true);
    }
  });
});

test('a copy in a folder that is found or stored again during its eviction stays', async () => {
  const { join, pass } = await startFolder();
  const [store, evictor] = [await join(), await join()];
  const bytes = someBytes(1000);
  const key = newKey();
  await store.cache.put(bytesOf(bytes));
  await storeArchive(store.archives, key, bytes);
  const uses = [
    () => store.cache.has(digestOf(bytes)),
    () => store.cache.put(bytesOf(bytes)).then(() => true),
    () => storeArchive(store.archives, key, bytes).then(() => true),
  ];
  let removed = 0;
  for (let round = 0; round < 150; round += 1) {
    await pass(48);
    const use = uses[round % uses.length] as () => Promise<boolean>;
    const using = use();
    for (let turn = 0; turn < round % 7; turn += 1) await nextTurn();
    const [used, evicted] = await Promise.all([using, keepLimits(evictor, { maxBytes: 1, maxAgeHours: 0 })]);
    removed += evicted.files;
    const names = (await listAll(store.copies)).map(({ name }) => name.split('/').at(-1));
    if (used) expect(names).toContain(round % uses.length === 2 ? key : digestOf(bytes).sha256);
  }
  expect(removed).toBeGreaterThan(0);
});

test('a copy whose removal fails stays, and the others are removed', async () => {
  const { join, pass } = await startFolder();
  const store = await join();
  for (let count = 0; count < 60; count += 1) await store.cache.put(bytesOf(Buffer.from(String(count))));
  await pass(48);
  const { copies } = store;
  const [stuck] = await listAll(copies);
  const evict: typeof copies.evict = (copy, since) =>
    copy.name === stuck?.name ? Promise.reject(new Error('permission denied')) : copies.evict(copy, since);
  const limited = { copies: { list: () => copies.list(), evict } };
  await expect(keepLimits(limited, { maxBytes: 1, maxAgeHours: 0 })).rejects.toThrow('permission denied');
  expect((await listAll(copies)).map(({ name }) => name)).toEqual([stuck?.name]);
});
