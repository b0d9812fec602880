import { once } from 'node:events';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../../shared/media/downloads/downloader.ts';
import { MediaCache } from '../../../shared/media/media-cache.ts';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { usageKeys } from '../../../shared/storage/file-usage.ts';
import type { Store } from '../../../shared/storage/store.ts';
import { readAndClose } from '../../storage/stores.ts';
import { answer } from '../../support/origin.ts';
import type { Behavior } from '../../support/origin.ts';
import { useOrigin } from '../../support/use.ts';
import {
  ageFiles,
  ageStore,
  evictorOf,
  existing,
  inHours,
  joinStore,
  namesOf,
  signFor,
  storeArchive,
  storeDownload,
  useEviction,
} from './evictable.ts';
import type { StoreClient } from './evictable.ts';

const origin = useOrigin();
const lab = useEviction(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host }));
const oldMinutes = 3 * 60;

let reader: StoreClient;
beforeEach(async () => {
  reader = await joinStore(lab.harness);
});

const download = () => storeDownload(lab.harness, 10, oldMinutes);
const archive = () => storeArchive(lab.harness, 10, oldMinutes);

/** Evicts everything that is not in use. */
const evictAll = (store: Store = lab.harness.store) =>
  evictorOf(lab.harness, lab.worker, { maxAgeHours: 1, store }).keepLimits();

/** A promise that the test resolves. */
function signal() {
  let send: () => void = () => undefined;
  const sent = new Promise<void>((resolve) => (send = resolve));
  return { send: () => send(), sent };
}

describe('no evictor removes a file', () => {
  test('that was checked in the last minute', async () => {
    const file = await download();
    await reader.store.cache.has(file.digest);
    await evictAll();
    expect(await file.exists()).toBe(true);
  });

  test('that was stored again just now', async () => {
    const digest = await reader.store.cache.put(bytesOf(Buffer.from('some bytes')));
    await evictAll();
    expect(await lab.harness.store.cache.has(digest)).toBe(true);
  });

  test('during a read of any length', async () => {
    const files = [await download(), await archive()] as const;
    const [file, stored] = files;
    const open = [await reader.store.cache.open(file.digest), await reader.store.archives.open(stored.key)];
    const evictLater = async () => {
      await ageFiles(lab.harness, lab.worker.redis, namesOf(...files), oldMinutes);
      await reader.coordination.usage.touchPinned();
      await evictAll();
    };
    await evictLater();
    expect(await existing([...files])).toEqual([true, true]);
    for (const one of open) await one?.close();
    await evictLater();
    expect(await existing([...files])).toEqual([false, false]);
  });

  test.each([
    { what: 'a build', behavior: answer(304), response: 'is unchanged' },
    { what: 'a build', behavior: answer(503), response: 'is unavailable' },
  ])('that $what revalidates for long, until the origin says that it $response', async ({ behavior }) => {
    origin.serve('/a.png', Buffer.alloc(100, 7), { etag: '"a"' });
    const url = origin.url('/a.png');
    const getAs = async ({ store, coordination }: StoreClient) => {
      const { db, config } = lab.harness;
      const downloader = createDownloader(config.download);
      onTestFinished(() => downloader.close());
      const cache = new MediaCache({ db, store, downloader, coordination });
      await cache.prepare([url]);
      const request = { url, organizationId: 'tenant', mimeType: 'image/png', maxBytes: 1000 };
      const file = await cache.get({ ...request, signal: new AbortController().signal });
      await cache.flush();
      return file;
    };
    await getAs(lab.worker);
    const [reached, released] = [signal(), signal()];
    const held: Behavior = async (request, response) => {
      reached.send();
      await released.sent;
      await behavior(request, response);
    };
    origin.script('/a.png', held, behavior);

    const getting = getAs(reader);
    await reached.sent;
    await ageStore(lab.harness, lab.worker.redis, oldMinutes);
    await reader.coordination.usage.touchPinned();
    await evictAll();
    released.send();
    expect(await lab.harness.store.cache.has(await getting)).toBe(true);
  });

  test('that a signed URL names, until its expiry, even if Redis loses everything', async () => {
    const [signed, expired] = [await download(), await download()];
    await signFor(lab.harness, signed, inHours(1));
    await signFor(lab.harness, expired, new Date(Date.now() - 1000));
    await evictAll();
    expect(await existing([signed, expired])).toEqual([true, false]);
    for (const name of [usageKeys.used, usageKeys.pinned]) await lab.worker.redis.del(lab.key(name));
    await evictAll();
    expect(await signed.exists()).toBe(true);
  });

  test("that a learner's URL names, even if Redis was down at first", async () => {
    const file = await download();
    const { usage } = reader.coordination;
    const down = once(reader.redis, 'end');
    reader.redis.disconnect();
    await down;
    await usage.pinUntil([file.name], inHours(1));

    await reader.redis.connect();
    await usage.pinUntil([file.name], inHours(1));
    await evictAll();
    expect(await file.exists()).toBe(true);
  });
});

describe('Redis serializes use and eviction', () => {
  /** The harness's store, whose removals wait until the test releases them. */
  function holdRemovals() {
    const [begun, released] = [signal(), signal()];
    const { store } = lab.harness;
    const remove = async (sha256: string) => {
      begun.send();
      await released.sent;
      await store.cache.delete(sha256);
    };
    return { store: { ...store, cache: { ...store.cache, delete: remove } }, begun, released };
  }

  test('a reader of a file that is being removed waits, and finds it gone', async () => {
    const file = await download();
    const { store, begun, released } = holdRemovals();
    const evicting = evictAll(store);
    await begun.sent;
    const found = Promise.all([reader.store.cache.has(file.digest), reader.store.cache.open(file.digest)]);
    expect(await file.exists()).toBe(true);
    released.send();
    await evicting;
    expect(await found).toEqual([false, null]);
  });

  test('a writer of a file that is being removed waits, and stores it afterwards', async () => {
    const bytes = Buffer.from('the same bytes again');
    const { sha256, size } = await lab.harness.store.cache.put(bytesOf(bytes));
    await ageFiles(lab.harness, lab.worker.redis, [`cache:${sha256}`], oldMinutes);
    const { store, begun, released } = holdRemovals();
    // oxlint-disable-next-line typescript/require-await -- stores list async iterables
    async function* list() {
      yield [{ sha256, size, storedAt: inHours(-3) }];
    }
    const evicting = evictAll({ ...store, cache: { ...store.cache, list } });
    await begun.sent;
    const storing = reader.store.cache.put(bytesOf(bytes));
    released.send();
    await Promise.all([evicting, storing]);
    expect(await lab.harness.store.cache.has({ sha256, size })).toBe(true);
  });

  test('a file that is used after its listing is not removed', async () => {
    const file = await download();
    const { store } = lab.harness;
    let lists = 0;
    async function* list() {
      lists += 1;
      yield* store.cache.list();
      // The first list is for the plan; removals follow the second one.
      if (lists === 2) await reader.store.cache.has(file.digest);
    }
    await evictAll({ ...store, cache: { ...store.cache, list } });
    expect(lists).toBe(2);
    expect(await file.exists()).toBe(true);
  });

  test('a claim of an evictor that died expires', async () => {
    const file = await download();
    await lab.worker.redis.hset(lab.key(usageKeys.leaving), file.name, Date.now() + 300);
    expect(await reader.store.cache.has(file.digest)).toBe(true);
  });
});

describe('without complete usage', () => {
  test('no file is removed in the first minute of a new Redis, and no download in its first hours', async () => {
    const files = [await download(), await archive()];
    const known = lab.key(usageKeys.known);
    await lab.worker.redis.del(known);
    await evictAll();
    expect(await existing(files)).toEqual([true, true]);

    const [server] = ((await lab.worker.redis.get(known)) ?? '').split(' ');
    await lab.worker.redis.set(known, `${server} ${Date.now() - 120_000}`);
    await evictAll();
    expect(await existing(files)).toEqual([true, false]);
  });

  test('no file is removed after a restart of Redis', async () => {
    const file = await archive();
    await lab.worker.redis.set(lab.key(usageKeys.known), `${'0'.repeat(40)} ${inHours(-10).getTime()}`);
    await evictAll();
    expect(await file.exists()).toBe(true);
  });

  test('a run ends when Redis loses its memory meanwhile', async () => {
    const file = await archive();
    const { store } = lab.harness;
    let lists = 0;
    async function* list() {
      lists += 1;
      if (lists === 2) await lab.worker.redis.del(lab.key(usageKeys.known));
      yield* store.archives.list();
    }
    const evicting = evictAll({ ...store, archives: { ...store.archives, list } });
    await expect(evicting).rejects.toThrow('lost the usage of files');
    expect(await file.exists()).toBe(true);
  });

  test('no file is removed while Redis is down, and files are served nevertheless', async () => {
    const file = await download();
    lab.worker.redis.disconnect();
    reader.redis.disconnect();
    await expect(evictAll()).rejects.toThrow();
    expect(await readAndClose(await reader.store.cache.open(file.digest))).toHaveLength(10);
  });
});
