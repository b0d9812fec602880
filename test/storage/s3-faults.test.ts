import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import type { S3Limits } from '../../shared/storage/s3/settings.ts';
import { someBytes } from '../exports/archives.ts';
import { startS3Proxy } from '../support/s3-proxy.ts';
import type { S3Proxy } from '../support/s3-proxy.ts';
import { minPartBytes, s3Name, startS3Store, useS3Server } from './kinds.ts';
import type { S3TestStore } from './kinds.ts';
import { archiveKey as key, read, storeArchive } from './stores.ts';

const s3Server = useS3Server();

const large = someBytes(minPartBytes + 1024 ** 2 + 5, 1);
const digest = digestOf(large);
const blobName = `v1/cache/${digest.sha256.slice(0, 2)}/${digest.sha256}`;

describe.skipIf(s3Server === null)(`a faulty ${s3Name}`, () => {
  /** Creates a store behind a proxy that causes faults. */
  async function start(limits: Partial<S3Limits> = {}): Promise<S3TestStore & { proxy: S3Proxy }> {
    if (s3Server === null) throw new Error(s3Name);
    const server = await s3Server();
    const prefix = `${Math.random().toString(36).slice(2)}/`;
    const proxy = await startS3Proxy(server.settings.endpoint ?? '', prefix);
    return { ...(await startS3Store(server, { endpoint: proxy.endpoint, prefix }, limits)), proxy };
  }

  test.each([
    ['ends with its connection', { bodyEndsAfter: 2_000_000 }],
    ['ends early as if complete', { bodyEndsAfter: 2_000_000, asIfWhole: true }],
    ['stalls', { bodyStallsAfter: 2_000_000 }],
  ] as const)('a reader requests the rest of a body that %s, and gets every byte once', async (_, fault) => {
    const { store, proxy } = await start({ idleTimeoutMs: 1000 });
    await store.cache.put(bytesOf(large));
    const file = await store.cache.open(digest);
    proxy.script(`GET ${blobName}`, fault, fault);
    expect((await read(file)).equals(large)).toBe(true);
    expect(proxy.requests.filter((one) => one === `GET ${blobName}`).length).toBe(4);
  });

  test.each([
    ['ends with its connection', { bodyEndsAfter: 2_000_000 }],
    ['stalls', { bodyStallsAfter: 2_000_000 }],
    ['never begins', { bodyEndsAfter: 0 }],
  ] as const)('a client gets the rest of a body that %s, and every byte once', async (_, fault) => {
    const { store, proxy } = await start({ idleTimeoutMs: 1000 });
    await storeArchive(store.archives, key, large);
    const archive = await store.archives.open(key);
    proxy.script('GET v1/archive-files/', fault, fault);
    const chunks: Buffer[] = [];
    const write = async (chunk: Uint8Array) => {
      await nextTurn();
      chunks.push(Buffer.from(chunk));
    };
    await archive?.send(write, 3, large.length - 7);
    expect(Buffer.concat(chunks).equals(large.subarray(3, -7))).toBe(true);
    expect(proxy.requests.filter((one) => one.startsWith('GET v1/archive-files/')).length).toBe(3);
  });

  test('a client that disconnects ends the transfer, and causes no other request', async () => {
    const { store, proxy } = await start();
    await storeArchive(store.archives, key, large);
    const archive = await store.archives.open(key);
    const disconnected = new Error('The client disconnected');
    await expect(archive?.send(() => Promise.reject(disconnected))).rejects.toBe(disconnected);
    expect(proxy.requests.filter((one) => one.startsWith('GET v1/archive-files/')).length).toBe(1);
  });

  test('a body that repeatedly breaks off without progress fails after some attempts', async () => {
    const { store, proxy } = await start();
    await store.cache.put(bytesOf(large));
    const file = await store.cache.open(digest);
    proxy.script(`GET ${blobName}`, ...Array.from({ length: 50 }, () => ({ bodyEndsAfter: 0 }) as const));
    await expect(read(file)).rejects.toMatchObject({ code: 'INTERNAL_ERROR', retryAfterSeconds: 10 });
  });

  test('a small blob that breaks off is not taken for a shorter one', async () => {
    const { store, proxy } = await start();
    const small = someBytes(100_000);
    const { sha256 } = await store.assets.put(bytesOf(small));
    const name = `GET v1/assets/${sha256.slice(0, 2)}/${sha256}`;
    proxy.script(name, { bodyEndsAfter: 50_000, asIfWhole: true }, { bodyEndsAfter: 50_000 });
    expect((await read(await store.assets.open(digestOf(small)))).equals(small)).toBe(true);
  });

  test('a short outage delays readers and writers, and fails none', async () => {
    const { store, proxy } = await start();
    await store.cache.put(bytesOf(large));
    const file = await store.cache.open(digest);
    const draft = await store.archives.create();
    await draft.write([large.subarray(0, minPartBytes + 1)]);

    proxy.gone();
    const reading = read(file);
    const writing = draft
      .write([large.subarray(minPartBytes + 1)])
      .then(() => draft.publish(key, digest.sha256));
    const before = proxy.requests.length;
    await expect.poll(() => proxy.requests.length, { timeout: 10_000 }).toBeGreaterThan(before + 4);
    proxy.back();

    expect((await reading).equals(large)).toBe(true);
    await writing;
    await draft.discard();
    expect((await read(await store.archives.open(key))).equals(large)).toBe(true);
  });

  test('a long outage is reported with advice, and a failed draft leaves nothing', async () => {
    const { store, proxy, files } = await start({ maxAttempts: 2 });
    const draft = await store.archives.create();
    await draft.write([large]);
    proxy.gone();
    await expect(draft.publish(key, digest.sha256)).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringMatching(/does not respond \(ECONN\w+\): check that it runs/) as string,
      retryAfterSeconds: 10,
    });
    await draft.discard();
    await expect(store.assets.put(bytesOf(large))).rejects.toThrow('does not respond');
    await expect(store.check()).rejects.toThrow('does not respond');
    proxy.back();
    expect(await files()).toEqual([]);
    expect(await store.archives.open(key)).toBeNull();
  });

  test('a service that never responds causes a timeout', async () => {
    const { store, proxy } = await start({ maxAttempts: 2, requestTimeoutMs: 200 });
    proxy.script('GET v1/archives/', 'silence', 'silence', 'silence', 'silence');
    await expect(store.archives.open(key)).rejects.toThrow('does not respond (ETIMEDOUT)');
  });

  test('calls to a throttling service are retried', async () => {
    const { store, proxy } = await start();
    for (const method of ['PUT', 'GET', 'HEAD', 'POST', 'DELETE'])
      proxy.script(method, 'busy', 'dropped', 'busy');
    await storeArchive(store.archives, key, large);
    expect((await read(await store.archives.open(key))).equals(large)).toBe(true);
    await store.archives.delete(key);
    expect(await store.archives.open(key)).toBeNull();
  });

  test('an operation whose response was lost is repeated, with the same result', async () => {
    const { store, proxy, files } = await start();
    for (const method of ['PUT', 'DELETE'])
      proxy.script(method, ...Array.from({ length: 3 }, () => 'answer lost' as const));
    proxy.script('POST', 'answer lost');
    await storeArchive(store.archives, key, large);
    await store.assets.put(bytesOf(large));
    const archive = await store.archives.open(key);
    expect(archive).toMatchObject({ size: large.length, sha256: digest.sha256 });
    expect((await read(archive)).equals(large)).toBe(true);
    expect((await files()).length).toBe(3);
  });

  test('a pointer to a missing or different file is ignored, and the next archive replaces it', async () => {
    const { store, files, damage, bucket } = await start();
    await storeArchive(store.archives, key, large);
    const [file = ''] = (await files()).filter((name) => name.startsWith('v1/archive-files/'));
    await damage(file, large.subarray(1));
    expect(await store.archives.open(key)).toBeNull();
    await bucket.delete(file);
    expect(await store.archives.open(key)).toBeNull();
    await storeArchive(store.archives, key, large);
    expect((await read(await store.archives.open(key))).equals(large)).toBe(true);
  });
});
