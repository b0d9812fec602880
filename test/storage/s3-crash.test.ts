import { describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { someBytes } from '../exports/archives.ts';
import { startS3Proxy } from '../support/s3-proxy.ts';
import type { S3Proxy } from '../support/s3-proxy.ts';
import { minPartBytes, s3Name, startS3Store, useS3Server } from './kinds.ts';
import type { S3TestStore } from './kinds.ts';
import { archiveKey as key, read, storeArchive } from './stores.ts';

const s3Server = useS3Server();

const [old, newer] = [someBytes(1000, 1), someBytes(1000, 3)];
const bytes = someBytes(minPartBytes + 17, 2);
const digest = digestOf(bytes);

/** For sweeps that take every file without a pointer as unread for a day. */
const unreadMs = -60_000;

/** More requests than any operation below sends. */
const maxRequests = 30;

describe.skipIf(s3Server === null)(`a process that dies between any two requests to ${s3Name}`, () => {
  /** Creates a store that fails at the first fault, and another one on the same data. */
  async function start(): Promise<{ dying: S3TestStore; proxy: S3Proxy; after: S3TestStore }> {
    if (s3Server === null) throw new Error(s3Name);
    const server = await s3Server();
    const prefix = `${Math.random().toString(36).slice(2)}/`;
    const proxy = await startS3Proxy(server.settings.endpoint ?? '', prefix);
    const dying = await startS3Store(
      server,
      { endpoint: proxy.endpoint, prefix },
      { maxAttempts: 1 },
      { unreadMs },
    );
    return { dying, proxy, after: await startS3Store(server, { prefix }, {}, { unreadMs }) };
  }

  /** Repeats an operation until it succeeds, and lets it die after one more request each time. */
  async function dieEverywhere(
    operation: (one: S3TestStore) => Promise<unknown>,
    check: (one: S3TestStore) => Promise<void>,
    prepare: (one: S3TestStore) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<number> {
    for (let requests = 0; requests < maxRequests; requests += 1) {
      const { dying, proxy, after } = await start();
      await prepare(after);
      proxy.gone(requests);
      const succeeded = await operation(dying).then(
        () => true,
        () => false,
      );
      await check(after);
      if (succeeded) return requests;
    }
    throw new Error('The operation never succeeds');
  }

  test('leaves the old archive or the new one complete, and sweeps remove everything else', async () => {
    const requests = await dieEverywhere(
      ({ store }) => storeArchive(store.archives, key, bytes),
      async ({ store, files }) => {
        const archive = await store.archives.open(key);
        const found = await read(archive);
        expect(found.equals(old) || found.equals(bytes)).toBe(true);
        expect(archive?.sha256).toBe(digestOf(found).sha256);
        await store.sweepTemporaries(0);
        expect((await files()).length).toBe(2);
        expect((await read(await store.archives.open(key))).equals(found)).toBe(true);
      },
      ({ store }) => storeArchive(store.archives, key, old),
    );
    // The upload, two parts, its completion, the pointer.
    expect(requests).toBe(5);
  });

  test('leaves a blob complete or not at all, and the next writer can store it', async () => {
    await dieEverywhere(
      ({ store }) => store.assets.put(bytesOf(bytes)),
      async ({ store }) => {
        const file = await store.assets.open(digest);
        if (file !== null) expect((await read(file)).equals(bytes)).toBe(true);
        expect(await store.assets.put(bytesOf(bytes))).toEqual(digest);
        expect((await read(await store.assets.open(digest))).equals(bytes)).toBe(true);
      },
    );
  });

  test('in a sweep loses no used file, and the next sweep completes the work', async () => {
    await dieEverywhere(
      ({ store }) => store.sweepTemporaries(0),
      async ({ store, files }) => {
        expect((await read(await store.archives.open(key))).equals(newer)).toBe(true);
        await store.sweepTemporaries(0);
        expect((await files()).length).toBe(2);
      },
      async ({ store }) => {
        await storeArchive(store.archives, key, old);
        await storeArchive(store.archives, key, newer);
        await (await store.archives.create()).write([bytes]);
      },
    );
  });
});
