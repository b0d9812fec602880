import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import { bytesOf } from '../../../shared/storage/digest.ts';
import type { Store } from '../../../shared/storage/store.ts';
import { read } from '../../storage/stores.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  ageFiles,
  evictorOf,
  joinStore,
  backdateUsage,
  signFor,
  storeArchive,
  storeDownload,
} from './evictable.ts';
import type { StoreClient } from './evictable.ts';

const old = 3 * 60;

let harness: Harness;
let worker: StoreClient;
let reader: StoreClient;
beforeEach(async () => {
  harness = await startHarness();
  onTestFinished(() => harness.close());
  [worker, reader] = [await joinStore(harness), await joinStore(harness)];
  await backdateUsage(harness, worker.redis);
});

/** Everything that is not in use goes. */
const evictAll = (store?: Store) =>
  evictorOf(harness, worker, { maxAgeHours: 1, ...(store && { store }) }).keepLimits();

describe('no evictor takes a file', () => {
  test('that was looked for in the last minute', async () => {
    const file = await storeDownload(harness, 10, old);
    await reader.store.cache.has(file.digest);
    await evictAll();
    expect(await file.isThere()).toBe(true);
  });

  test('that was stored just now, though it had been there for long', async () => {
    const bytes = Buffer.from('some bytes');
    const digest = await reader.store.cache.put(bytesOf(bytes));
    await evictAll();
    expect(await harness.store.cache.has(digest)).toBe(true);
  });

  test('that is being read, however long that takes', async () => {
    const file = await storeDownload(harness, 10, old);
    const archive = await storeArchive(harness, 10, old);
    const open = [await reader.store.cache.open(file.digest), await reader.store.archives.open(archive.key)];
    // The uses that were noted when they were opened are long ago; those that are held are noted again.
    await ageFiles(harness, worker.redis, [file.name, archive.name], old);
    expect(open.every((one) => one !== null)).toBe(true);
    await reader.coordination.usage.touchPinned();
    await evictAll();
    expect([await file.isThere(), await archive.isThere()]).toEqual([true, true]);

    for (const one of open) await one?.close();
    await ageFiles(harness, worker.redis, [file.name, archive.name], old);
    await reader.coordination.usage.touchPinned();
    await evictAll();
    expect([await file.isThere(), await archive.isThere()]).toEqual([false, false]);
  });

  test('that a signed address names, until its time is over', async () => {
    const [signed, expired] = [await storeDownload(harness, 10, old), await storeDownload(harness, 10, old)];
    await signFor(harness, signed, new Date(Date.now() + 3_600_000));
    await signFor(harness, expired, new Date(Date.now() - 1000));
    await evictAll();
    expect([await signed.isThere(), await expired.isThere()]).toEqual([true, false]);
  });

  test('that a signed address names, after Redis has lost everything', async () => {
    const signed = await storeDownload(harness, 10, old);
    await signFor(harness, signed, new Date(Date.now() + 3_600_000));
    await evictAll();
    for (const key of [usageKeys.used, usageKeys.pinned]) {
      await worker.redis.del(`${harness.config.redisPrefix}:${key}`);
    }
    await evictAll();
    expect(await signed.isThere()).toBe(true);
  });

  test('that the address of a learner names', async () => {
    const file = await storeDownload(harness, 10, old);
    await reader.coordination.usage.pinUntil([file.name], new Date(Date.now() + 3_600_000));
    await evictAll();
    expect(await file.isThere()).toBe(true);
  });
});

describe('of a use and an eviction at the same time one is first', () => {
  /** The harness's store, whose removals wait until the test releases them. */
  function holdRemovals() {
    let begin: () => void = () => undefined;
    let goOn: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const told = new Promise<void>((resolve) => (goOn = resolve));
    const remove = async (sha256: string) => {
      begin();
      await told;
      await harness.store.cache.delete(sha256);
    };
    const store = { ...harness.store, cache: { ...harness.store.cache, delete: remove } };
    return { store, begun, goOn };
  }

  test('who looks for a file that is being removed hears that it is gone', async () => {
    const file = await storeDownload(harness, 10, old);
    const { store, begun, goOn } = holdRemovals();
    const evicting = evictAll(store);
    await begun;
    const answers: unknown[] = [];
    const asked = Promise.all([
      reader.store.cache.has(file.digest).then((answer) => answers.push(answer)),
      reader.store.cache.open(file.digest).then((answer) => answers.push(answer)),
    ]);
    expect(await file.isThere()).toBe(true);
    goOn();
    await Promise.all([evicting, asked]);
    expect(answers).toEqual(expect.arrayContaining([false, null]));
  });

  test('who stores a file that is being removed stores it after that', async () => {
    const bytes = Buffer.from('the same bytes again');
    const stored = await storeDownload(harness, 10, old);
    const digest = await harness.store.cache.put(bytesOf(bytes));
    await ageFiles(harness, worker.redis, [`cache:${digest.sha256}`, stored.name], old);
    const { store, begun, goOn } = holdRemovals();
    const evicting = evictAll({
      ...store,
      cache: { ...store.cache, list: () => listOld(digest) },
    });
    await begun;
    const storing = reader.store.cache.put(bytesOf(bytes));
    goOn();
    await Promise.all([evicting, storing]);
    expect(await harness.store.cache.has(digest)).toBe(true);
  });

  test('a file that is used after it was listed is not removed', async () => {
    const file = await storeDownload(harness, 10, old);
    let lists = 0;
    async function* list() {
      lists += 1;
      yield* harness.store.cache.list();
      // The first list is for the plan; the files of the second are removed when it has ended.
      if (lists === 2) await reader.store.cache.has(file.digest);
    }
    await evictAll({ ...harness.store, cache: { ...harness.store.cache, list } });
    expect(lists).toBe(2);
    expect(await file.isThere()).toBe(true);
  });

  // eslint-disable-next-line @typescript-eslint/require-await -- an async iterable is what a store lists
  async function* listOld({ sha256, size }: { sha256: string; size: number }) {
    yield [{ sha256, size, storedAt: new Date(Date.now() - old * 60_000) }];
  }
});

describe('while uses may not be known', () => {
  test('nothing goes in the first minute of a Redis that is new, nor downloads in its first hours', async () => {
    const [file, archive] = [await storeDownload(harness, 10, old), await storeArchive(harness, 10, old)];
    const known = `${harness.config.redisPrefix}:${usageKeys.known}`;
    await worker.redis.del(known);
    await evictAll();
    expect([await file.isThere(), await archive.isThere()]).toEqual([true, true]);

    const [server] = ((await worker.redis.get(known)) ?? '').split(' ');
    await worker.redis.set(known, `${server} ${Date.now() - 120_000}`);
    await evictAll();
    expect([await file.isThere(), await archive.isThere()]).toEqual([true, false]);
  });

  test('nor when Redis was restarted', async () => {
    const archive = await storeArchive(harness, 10, old);
    const known = `${harness.config.redisPrefix}:${usageKeys.known}`;
    await worker.redis.set(known, `${'0'.repeat(40)} ${Date.now() - 10 * 3_600_000}`);
    await evictAll();
    expect(await archive.isThere()).toBe(true);
  });

  test('a run ends where Redis loses its memory in the middle', async () => {
    const archive = await storeArchive(harness, 10, old);
    let lists = 0;
    async function* list() {
      lists += 1;
      if (lists === 2) await worker.redis.del(`${harness.config.redisPrefix}:${usageKeys.known}`);
      yield* harness.store.archives.list();
    }
    const store = { ...harness.store, archives: { ...harness.store.archives, list } };
    await expect(evictAll(store)).rejects.toThrow('lost the usage of files');
    expect(await archive.isThere()).toBe(true);
  });

  test('nor while Redis is away, where files are served all the same', async () => {
    const file = await storeDownload(harness, 10, old);
    worker.redis.disconnect();
    reader.redis.disconnect();
    await expect(evictAll()).rejects.toThrow();
    const open = await reader.store.cache.open(file.digest);
    expect(await read(open)).toHaveLength(10);
    await open?.close();
  });
});

test('what an evictor that died was about to remove can be used after a minute', async () => {
  const file = await storeDownload(harness, 10, old);
  const leaving = `${harness.config.redisPrefix}:${usageKeys.leaving}`;
  await worker.redis.hset(leaving, file.name, Date.now() + 300);
  const asked = reader.store.cache.has(file.digest);
  await waitFor('the end of its time', async () => asked);
  expect(await asked).toBe(true);
});
