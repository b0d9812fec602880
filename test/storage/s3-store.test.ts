import { beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { presign } from '../../shared/storage/s3/presign.ts';
import { createS3Store } from '../../shared/storage/s3/s3-store.ts';
import { defaultLimits } from '../../shared/storage/s3/settings.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';
import { someBytes } from '../exports/archives.ts';
import { strangersKey } from '../support/s3-server.ts';
import type { S3Server } from '../support/s3-server.ts';
import { leastPartBytes, s3Name, startS3Store, useS3Server } from './kinds.ts';
import { archiveKey as key, filesBelow, read, storeArchive } from './stores.ts';

const s3Server = useS3Server();

const bytes = someBytes(2 * leastPartBytes + 7);
const digest = digestOf(bytes);
const pointer = `v1/archives/${key}`;

describe.skipIf(s3Server === null)(`a store in ${s3Name}`, () => {
  let server: S3Server;
  beforeAll(async () => {
    if (s3Server !== null) server = await s3Server();
  });

  test.each([0, 1, leastPartBytes - 1, leastPartBytes, leastPartBytes + 1, 2 * leastPartBytes, bytes.length])(
    'files and archives of %i bytes read back unchanged, also those sent in parts',
    async (size) => {
      const { store } = await startS3Store(server);
      const part = bytes.subarray(0, size);
      await store.assets.put(bytesOf(part));
      await storeArchive(store.archives, key, part);
      expect((await read(await store.assets.open(digestOf(part)))).equals(part)).toBe(true);
      expect((await read(await store.archives.open(key))).equals(part)).toBe(true);
    },
  );

  test('two machines share it: changes of one are visible to the other at once', async () => {
    const one = await startS3Store(server);
    const other = await startS3Store(server, { prefix: one.settings.prefix });
    await one.store.assets.put(bytesOf(bytes));
    await storeArchive(one.store.archives, key, bytes);
    expect((await read(await other.store.assets.open(digest))).equals(bytes)).toBe(true);
    expect((await read(await other.store.archives.open(key))).equals(bytes)).toBe(true);
    await other.store.archives.delete(key);
    expect(await one.store.archives.open(key)).toBeNull();
  });

  test('stores with separate prefixes are isolated', async () => {
    const one = await startS3Store(server);
    const other = await startS3Store(server);
    await one.store.assets.put(bytesOf(bytes));
    expect(await other.store.assets.has(digest)).toBe(false);
    expect(await other.files()).toEqual([]);
  });

  test('a file on its way to the bucket leaves nothing on the local disk, not even its name', async () => {
    const { store, spoolFolder } = await startS3Store(server);
    let names: string[] | null = null;
    await store.assets.put(bytesOf(bytes), async () => {
      names = await filesBelow(spoolFolder);
    });
    expect(names).toEqual([]);
  });

  test('more than a thousand files are listed page by page, each once', async () => {
    const { store, bucket } = await startS3Store(server);
    const names = Array.from({ length: 1005 }, (_, index) => digestOf(Buffer.from(String(index))).sha256);
    for (let start = 0; start < names.length; start += 50) {
      await Promise.all(
        names
          .slice(start, start + 50)
          .map((sha256) => bucket.put(`v1/cache/${sha256.slice(0, 2)}/${sha256}`, Buffer.from('x'))),
      );
    }
    const pages: string[][] = [];
    for await (const page of store.cache.list()) pages.push(page.map(({ sha256 }) => sha256));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat().sort()).toEqual(names.sort());
  });

  describe('sweeps', () => {
    test('end abandoned uploads', async () => {
      const { store, bucket } = await startS3Store(server);
      const draft = await store.archives.create();
      await draft.write([bytes]);
      expect((await bucket.listUploads('')).length).toBe(1);
      expect(await store.sweepTemporaries(3600)).toBe(0);
      expect(await store.sweepTemporaries(0)).toBe(1);
      expect(await bucket.listUploads('')).toEqual([]);
      await expect(draft.publish(key, digest.sha256)).rejects.toThrow('NoSuchUpload');
      expect(await store.archives.open(key)).toBeNull();
    });

    test('remove the files of deleted and replaced archives at the second sweep, and no others', async () => {
      const { store, files } = await startS3Store(server);
      await storeArchive(store.archives, key, bytes);
      const old = await files();
      await storeArchive(store.archives, key, bytes.subarray(1));
      const other = `x${'1'.repeat(40)}`;
      await storeArchive(store.archives, other, bytes);
      await store.archives.delete(other);
      expect((await files()).length).toBe(4);

      expect(await store.sweepTemporaries(3600)).toBe(0);
      // Marked.
      expect(await store.sweepTemporaries(0)).toBe(0);
      // Too soon for readers that began before.
      expect(await store.sweepTemporaries(3600)).toBe(0);
      expect(await store.sweepTemporaries(0)).toBe(2);
      expect(await store.sweepTemporaries(0)).toBe(0);

      const left = await files();
      expect(left.length).toBe(2);
      expect(left).toContain(pointer);
      expect(left).not.toContain(old.find((name) => name.startsWith('v1/archive-files/')));
      expect((await read(await store.archives.open(key))).equals(bytes.subarray(1))).toBe(true);
    });

    test('spare a file whose builder was held up, and published it after it was marked', async () => {
      const { store, bucket, files } = await startS3Store(server);
      await storeArchive(store.archives, key, bytes);
      const published = await bucket.get(pointer);
      await bucket.delete(pointer);
      await store.sweepTemporaries(0);
      expect((await files()).filter((name) => name.startsWith('v1/orphans/')).length).toBe(1);

      await bucket.put(pointer, published ?? Buffer.alloc(0));
      expect(await store.sweepTemporaries(0)).toBe(0);
      expect((await files()).filter((name) => name.startsWith('v1/orphans/'))).toEqual([]);
      expect((await read(await store.archives.open(key))).equals(bytes)).toBe(true);
    });
  });

  describe('presigned URLs', () => {
    const options = { seconds: 60, contentType: 'image/png' };
    const addressOf = async (changes = {}) => {
      const { store } = await startS3Store(server, changes);
      await store.assets.put(bytesOf(bytes));
      return (await store.assets.presignedUrl(digest.sha256, options)) ?? '';
    };

    test('give the file, whole or a range of it, with the type they were made for', async () => {
      const address = await addressOf();
      const whole = await fetch(address);
      expect(whole.headers.get('content-type')).toBe('image/png');
      expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
      const range = await fetch(address, { headers: { Range: 'bytes=5-9' } });
      expect(range.status).toBe(206);
      expect(Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(5, 10))).toBe(true);
    });

    test('are rejected after any change, and after their expiry', async () => {
      const address = await addressOf();
      const changed = [
        address.replace(/Signature=./, (text) => text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))),
        address.replace(digest.sha256, digestOf(Buffer.alloc(0)).sha256),
        address.replace('/assets/', '/cache/'),
        address.replace('image%2Fpng', 'text%2Fhtml'),
        address.replace('Expires=60', 'Expires=600'),
        address.split('?')[0] ?? '',
      ];
      const { accessKeyId = '', secretAccessKey = '' } = server.settings;
      const past = presign(server.settings, { accessKeyId, secretAccessKey }, 'v1/x', {
        seconds: 60,
        at: new Date(Date.now() - 61_000),
        query: {},
      });
      for (const one of [...changed, past]) {
        const answer = await fetch(one);
        await answer.arrayBuffer();
        expect(answer.status, one).toBe(403);
      }
    });

    test('are off by default', async () => {
      const { store } = await startS3Store(server, { presignedReads: false });
      expect(await store.assets.presignedUrl(digest.sha256, options)).toBeNull();
    });
  });

  describe('the check', () => {
    test('reports where the store is, and leaves nothing', async () => {
      const { store, settings, files } = await startS3Store(server);
      expect(await store.check()).toEqual({
        place: `bucket lectern-tests/${settings.prefix.slice(0, -1)} at ${settings.endpoint}`,
        freeBytes: null,
        sizeBytes: null,
      });
      await store.ping();
      expect(await files()).toEqual([]);
    });

    test.each([
      [
        'a bucket that is not there',
        { bucket: 'no-such-bucket' },
        /is not there: create the bucket no-such-bucket/,
      ],
      ['a wrong secret', { secretAccessKey: 'wrong' }, /refuses the signature: correct S3_SECRET_ACCESS_KEY/],
      ['an unknown key', { accessKeyId: 'nobody' }, /knows no access key nobody: correct S3_ACCESS_KEY_ID/],
      [
        'a key without rights',
        { accessKeyId: strangersKey.accessKey, secretAccessKey: strangersKey.secretKey },
        /denies access: its key has to list the bucket, and read, write and delete objects/,
      ],
      [
        'no service',
        { endpoint: 'http://127.0.0.1:1' },
        /does not answer \(ECONNREFUSED\): see that it runs, and/,
      ],
    ] satisfies [string, Partial<S3Settings>, RegExp][])(
      'reports %s, and what to do',
      async (_, changes, words) => {
        const store = createS3Store(
          { ...server.settings, ...changes },
          {
            spoolFolder: '/nowhere',
            partBytes: leastPartBytes,
            limits: { ...defaultLimits, retryBudgetMs: 0 },
          },
        );
        const fault = { code: 'INTERNAL_ERROR', message: expect.stringMatching(words) as string };
        await expect(store.check()).rejects.toMatchObject(fault);
        await expect(store.ping()).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
      },
    );
  });
});
