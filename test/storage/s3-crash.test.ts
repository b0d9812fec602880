import { beforeAll, describe, expect, test, vi } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { someBytes } from '../exports/archives.ts';
import { startS3Proxy } from '../support/s3-proxy.ts';
import type { S3Proxy } from '../support/s3-proxy.ts';
import type { S3Server } from '../support/s3-server.ts';
import { leastPartBytes, s3Name, startS3Store, useS3Server } from './kinds.ts';
import type { S3TestStore } from './kinds.ts';
import { archiveKey as key, read, storeArchive } from './stores.ts';

const s3Server = useS3Server();

vi.setConfig({ testTimeout: 120_000 });

const old = someBytes(1000, 1);
const bytes = someBytes(leastPartBytes + 17, 2);
const digest = digestOf(bytes);

/** More than any of the works below makes. */
const mostRequests = 30;

describe.skipIf(s3Server === null)(`a writer that dies between any two requests to ${s3Name}`, () => {
  let server: S3Server;
  beforeAll(async () => {
    if (s3Server !== null) server = await s3Server();
  });

  /** A store that fails at the first fault, and another on the same bucket, which finds what the first has left. */
  async function start(): Promise<{ dying: S3TestStore; proxy: S3Proxy; after: S3TestStore }> {
    const prefix = `${Math.random().toString(36).slice(2)}/`;
    const proxy = await startS3Proxy(server.settings.endpoint ?? '', prefix);
    const dying = await startS3Store(server, { endpoint: proxy.endpoint, prefix }, { retryBudgetMs: 0 });
    return { dying, proxy, after: await startS3Store(server, { prefix }) };
  }

  /** Does something with ever more requests until it comes to its end; with each number once as if it died there. */
  async function dieEverywhere(
    work: (one: S3TestStore) => Promise<unknown>,
    look: (one: Awaited<ReturnType<typeof start>>) => Promise<void>,
    prepare: (one: S3TestStore) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<number> {
    for (let requests = 0; requests < mostRequests; requests += 1) {
      const one = await start();
      await prepare(one.after);
      one.proxy.gone(requests);
      const done = await work(one.dying).then(
        () => true,
        () => false,
      );
      await look(one);
      if (done) return requests;
    }
    throw new Error('It never comes to its end');
  }

  test('leaves the archive that was there, or the new one, whole; and sweeps leave nothing else', async () => {
    const requests = await dieEverywhere(
      ({ store }) => storeArchive(store.archives, key, bytes),
      async ({ after: { store, files, bucket } }) => {
        const archive = await store.archives.open(key);
        const found = await read(archive);
        expect(found.equals(old) || found.equals(bytes)).toBe(true);
        expect(archive?.sha256).toBe(digestOf(found).sha256);
        await store.sweepTemporaries(0);
        await store.sweepTemporaries(0);
        expect((await files()).length).toBe(2);
        expect(await bucket.listUploads('')).toEqual([]);
        expect((await read(await store.archives.open(key))).equals(found)).toBe(true);
      },
      ({ store }) => storeArchive(store.archives, key, old),
    );
    // An upload, two parts, its end, a look at it, the pointer.
    expect(requests).toBe(6);
  });

  test('leaves a file whole or not at all, and the next writer can store it', async () => {
    await dieEverywhere(
      ({ store }) => store.assets.put(bytesOf(bytes)),
      async ({ after: { store } }) => {
        const file = await store.assets.open(digest);
        if (file !== null) expect((await read(file)).equals(bytes)).toBe(true);
        expect(await store.assets.put(bytesOf(bytes))).toEqual({ ...digest, created: file === null });
        expect((await read(await store.assets.open(digest))).equals(bytes)).toBe(true);
      },
    );
  });

  test('a sweep that dies loses nothing that is in use, and the next one ends its work', async () => {
    await dieEverywhere(
      ({ store }) => store.sweepTemporaries(0),
      async ({ after: { store, files } }) => {
        expect((await read(await store.archives.open(key))).equals(bytes)).toBe(true);
        await store.sweepTemporaries(0);
        await store.sweepTemporaries(0);
        expect((await files()).length).toBe(2);
      },
      async ({ store }) => {
        await storeArchive(store.archives, key, old);
        await storeArchive(store.archives, key, bytes);
        await (await store.archives.create()).write([bytes]);
        await store.sweepTemporaries(3600);
      },
    );
  });
});
