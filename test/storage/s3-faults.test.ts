import { beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import type { S3Limits } from '../../shared/storage/s3/settings.ts';
import { someBytes } from '../exports/archives.ts';
import { startS3Proxy } from '../support/s3-proxy.ts';
import type { S3Proxy } from '../support/s3-proxy.ts';
import type { S3Server } from '../support/s3-server.ts';
import { s3Name, startS3Store, useS3Server } from './kinds.ts';
import type { S3TestStore } from './kinds.ts';
import { archiveKey as key, read, storeArchive } from './stores.ts';

const s3Server = useS3Server();

const large = someBytes(12 * 1024 ** 2 + 5, 1);
const digest = digestOf(large);
const blobName = `v1/cache/${digest.sha256.slice(0, 2)}/${digest.sha256}`;

describe.skipIf(s3Server === null)(`a faulty ${s3Name}`, () => {
  let server: S3Server;
  beforeAll(async () => {
    if (s3Server !== null) server = await s3Server();
  });

  async function start(limits: Partial<S3Limits> = {}): Promise<S3TestStore & { proxy: S3Proxy }> {
    const prefix = `${Math.random().toString(36).slice(2)}/`;
    const proxy = await startS3Proxy(server.settings.endpoint ?? '', prefix);
    return { ...(await startS3Store(server, { endpoint: proxy.endpoint, prefix }, limits)), proxy };
  }

  test.each([
    ['ends with its connection', { bodyEndsAfter: 3_000_000 }],
    ['ends as if that were all', { bodyEndsAfter: 3_000_000, asIfWhole: true }],
    ['stops coming', { bodyStallsAfter: 3_000_000 }],
  ] as const)('a reader requests the rest of a body that %s, and gets every byte once', async (_, fault) => {
    const { store, proxy } = await start({ idleTimeoutMs: 1500 });
    await store.cache.put(bytesOf(large));
    const file = await store.cache.open(digest);
    proxy.script(`GET ${blobName}`, fault, fault);
    expect((await read(file)).equals(large)).toBe(true);
    expect(proxy.requests.filter((one) => one === `GET ${blobName}`).length).toBe(4);
  });

  test('a body that is repeatedly cut off without progress fails within the retry budget', async () => {
    const { store, proxy } = await start({ retryBudgetMs: 300 });
    await store.cache.put(bytesOf(large));
    const file = await store.cache.open(digest);
    proxy.script(`GET ${blobName}`, ...Array.from({ length: 50 }, () => ({ bodyEndsAfter: 0 }) as const));
    await expect(read(file)).rejects.toMatchObject({ code: 'INTERNAL_ERROR', retryAfterSeconds: 10 });
  });

  test('a small file that was cut off is not taken for a shorter one', async () => {
    const { store, proxy } = await start();
    const small = someBytes(100_000);
    const { sha256 } = await store.assets.put(bytesOf(small));
    proxy.script(
      `GET v1/assets/${sha256.slice(0, 2)}/${sha256}`,
      { bodyEndsAfter: 50_000, asIfWhole: true },
      { bodyEndsAfter: 50_000 },
    );
    expect((await read(await store.assets.open(digestOf(small)))).equals(small)).toBe(true);
  });

  test('a range near the end of an archive goes on where it was cut off', async () => {
    const { store, proxy } = await start();
    await storeArchive(store.archives, key, large);
    const archive = await store.archives.open(key);
    proxy.script('GET v1/archive-files/', { bodyEndsAfter: 10 });
    expect((await read(archive, large.length - 100)).equals(large.subarray(-100))).toBe(true);
  });

  test('a short outage of the service delays readers and writers, and fails none', async () => {
    const { store, proxy } = await start();
    await store.cache.put(bytesOf(large));
    const file = await store.cache.open(digest);
    const draft = await store.archives.create();
    await draft.write([large.subarray(0, 7_000_000)]);

    proxy.gone();
    const reading = read(file);
    const writing = draft.write([large.subarray(7_000_000)]).then(() => draft.publish(key, digest.sha256));
    const asked = proxy.requests.length;
    await expect.poll(() => proxy.requests.length, { timeout: 10_000 }).toBeGreaterThan(asked + 4);
    proxy.back();

    expect((await reading).equals(large)).toBe(true);
    await writing;
    await draft.discard();
    expect((await read(await store.archives.open(key))).equals(large)).toBe(true);
  });

  test('a long outage is reported within the retry budget with advice, and a failed draft leaves nothing', async () => {
    const { store, proxy, files } = await start({ retryBudgetMs: 1000 });
    const draft = await store.archives.create();
    await draft.write([large]);
    proxy.gone();
    await expect(draft.publish(key, digest.sha256)).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringMatching(/does not answer \(ECONN\w+\): see that it runs/) as string,
      retryAfterSeconds: 10,
    });
    await draft.discard();
    await expect(store.assets.put(bytesOf(large))).rejects.toThrow('does not answer');
    await expect(store.check()).rejects.toThrow('does not answer');
    proxy.back();
    expect(await files()).toEqual([]);
    expect(await store.archives.open(key)).toBeNull();
  });

  test('a service that never responds causes a timeout', async () => {
    const { store, proxy } = await start({ retryBudgetMs: 300, callTimeoutMs: 200 });
    proxy.script('GET v1/archives/', 'silence', 'silence', 'silence', 'silence');
    await expect(store.archives.open(key)).rejects.toThrow('does not answer (no response for 0.2 s)');
  });

  test('a throttling service gets retries', async () => {
    const { store, proxy } = await start();
    for (const start of ['PUT', 'GET', 'HEAD', 'POST', 'DELETE'])
      proxy.script(start, 'busy', 'dropped', 'busy');
    await storeArchive(store.archives, key, large);
    expect((await read(await store.archives.open(key))).equals(large)).toBe(true);
    await store.archives.delete(key);
    expect(await store.archives.open(key)).toBeNull();
  });

  test('an operation whose response was lost happens once', async () => {
    const { store, proxy, files } = await start({ callTimeoutMs: 2000 });
    for (const start of ['PUT', 'POST', 'DELETE']) {
      proxy.script(start, ...Array.from({ length: 3 }, () => 'answer lost' as const));
    }
    await storeArchive(store.archives, key, large);
    await store.assets.put(bytesOf(large));
    const archive = await store.archives.open(key);
    expect(archive).toMatchObject({ size: large.length, sha256: digest.sha256 });
    expect((await read(archive)).equals(large)).toBe(true);
    expect((await files()).length).toBe(3);
  });

  test('a pointer whose file is gone or is another counts for nothing, and the next archive replaces it', async () => {
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

  test('objects outlive a power cut of the service', async () => {
    const { store } = await startS3Store(server);
    await store.assets.put(bytesOf(large));
    await storeArchive(store.archives, key, large);
    const archive = await store.archives.open(key);
    await server.kill();
    await server.start();
    expect((await read(archive)).equals(large)).toBe(true);
    expect((await read(await store.assets.open(digest))).equals(large)).toBe(true);
  }, 120_000);
});
