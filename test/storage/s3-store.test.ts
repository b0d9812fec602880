import { beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../shared/platform/config.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { growingPartBytes, mebibyte, partBytesOf } from '../../shared/storage/s3/object-writer.ts';
import { presign } from '../../shared/storage/s3/presign.ts';
import { createS3Store } from '../../shared/storage/s3/s3-store.ts';
import { defaultLimits } from '../../shared/storage/s3/settings.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import { someBytes } from '../exports/archives.ts';
import { environmentOf, strangersKey } from '../support/s3-server.ts';
import type { S3Server } from '../support/s3-server.ts';
import { minPartBytes, s3Name, startS3Store, useS3Server } from './kinds.ts';
import { archiveKey as key, filesBelow, read, readAndClose, storeArchive } from './stores.ts';
import { temporaryFolder } from '../support/folders.ts';

const s3Server = useS3Server();

const bytes = someBytes(minPartBytes + 7);
const digest = digestOf(bytes);

describe.skipIf(s3Server === null)(`a store in ${s3Name}`, () => {
  let server: S3Server;
  beforeAll(async () => {
    if (s3Server !== null) server = await s3Server();
  });

  test.each([0, minPartBytes, minPartBytes + 1])(
    'returns blobs and archives of %i bytes unchanged, also those uploaded in parts',
    async (size) => {
      const { store } = await startS3Store(server);
      const part = someBytes(size);
      await store.assets.put(bytesOf(part));
      await storeArchive(store.archives, key, part);
      expect((await read(await store.assets.open(digestOf(part)))).equals(part)).toBe(true);
      expect((await read(await store.archives.open(key))).equals(part)).toBe(true);
    },
  );

  test('leaves no file on the local disk during an upload', async () => {
    const { store, spoolFolder } = await startS3Store(server);
    let names: string[] | null = null;
    await store.assets.put(bytesOf(bytes), async () => {
      names = await filesBelow(spoolFolder);
    });
    expect(names).toEqual([]);
  });

  test('lists more than a thousand blobs in pages, each once', async () => {
    const { store, bucket } = await startS3Store(server);
    const names = Array.from({ length: 1005 }, (_, index) => digestOf(Buffer.from(String(index))).sha256);
    for (let start = 0; start < names.length; start += 50) {
      const some = names.slice(start, start + 50);
      await Promise.all(
        some.map((sha256) => bucket.put(`v1/cache/${sha256.slice(0, 2)}/${sha256}`, Buffer.from('x'))),
      );
    }
    const pages: string[][] = [];
    for await (const page of store.copies.list()) pages.push(page.map(({ name }) => name.slice(-64)));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat().sort()).toEqual(names.sort());
  });

  test('allows archives with the largest configurable limits', async () => {
    const dataDir = await temporaryFolder();
    const most = String(Number.MAX_SAFE_INTEGER);
    const limits = { EXPORT_MAX_BYTES: most, MEDIA_MAX_BYTES: most, LECTERN_DATA_DIR: dataDir };
    const { archives } = await createStore(
      parseConfig({ ...environmentOf(server.settings), ...limits }),
      noLastUses,
    );
    await storeArchive(archives, key, Buffer.alloc(2000, 'archive'));
    expect((await readAndClose(await archives.open(key))).length).toBe(2000);
  });

  describe('sweeps', () => {
    test('abort abandoned uploads', async () => {
      const { store, bucket } = await startS3Store(server);
      const draft = await store.archives.create();
      await draft.write([bytes]);
      expect((await bucket.uploads.list('')).length).toBe(1);
      expect(await store.sweepTemporaries(3600)).toBe(0);
      expect(await store.sweepTemporaries(0)).toBe(1);
      expect(await bucket.uploads.list('')).toEqual([]);
      await expect(draft.publish(key, digest.sha256)).rejects.toThrow('NoSuchUpload');
      expect(await store.archives.open(key)).toBeNull();
    });

    test('remove the files of removed and replaced archives a day after their last reader began, and no others', async () => {
      const uses = new Map<string, Date>();
      const lastUses = { touch: () => Promise.resolve(), find: () => Promise.resolve(uses) };
      const young = await startS3Store(server, {}, {}, { lastUses });
      // Counts everything that was stored or used until now as a day old.
      const old = await startS3Store(server, young.settings, {}, { lastUses, unreadMs: -60_000 });
      const { archives } = young.store;
      const [removed, read] = [`x${'1'.repeat(40)}`, `x${'2'.repeat(40)}`];
      const files = async () => (await young.files()).filter((name) => name.includes('/archive-files/'));
      await storeArchive(archives, read, bytes);
      const [readFile = ''] = await files();
      await storeArchive(archives, key, bytes);
      await storeArchive(archives, removed, bytes);
      await storeArchive(archives, key, bytes.subarray(1));
      await archives.delete(removed);
      await archives.delete(read);
      uses.set(readFile, new Date(Date.now() + 3_600_000));
      expect(await files()).toHaveLength(4);

      expect(await young.store.sweepTemporaries(0)).toBe(0);
      expect(await old.store.sweepTemporaries(0)).toBe(2);
      expect(await files()).toContain(readFile);
      expect(await files()).toHaveLength(2);
      expect((await readAndClose(await archives.open(key))).equals(bytes.subarray(1))).toBe(true);
    });
  });

  describe('presigned URLs', () => {
    const options = { seconds: 60, contentType: 'image/png' };
    const urlOf = async (changes = {}) => {
      const { store } = await startS3Store(server, changes);
      await store.assets.put(bytesOf(bytes));
      return store.assets.presignedUrl(digest.sha256, options);
    };

    test('return the blob or a range of it, with their type, and are downloaded when opened', async () => {
      const url = (await urlOf()) ?? '';
      const whole = await fetch(url);
      expect(whole.headers.get('content-type')).toBe('image/png');
      expect(whole.headers.get('content-disposition')).toBe('attachment');
      expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
      const range = await fetch(url, { headers: { Range: 'bytes=5-9' } });
      expect(range.status).toBe(206);
      expect(Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(5, 10))).toBe(true);
    });

    test('are rejected after any change, and after their expiry', async () => {
      const url = (await urlOf()) ?? '';
      const { accessKeyId = '', secretAccessKey = '' } = server.settings;
      const past = { seconds: 60, at: new Date(Date.now() - 61_000), query: {} };
      for (const invalid of [
        url.replace(/Signature=./, (text) => text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))),
        url.replace(digest.sha256, digestOf(Buffer.alloc(0)).sha256),
        url.replace('/assets/', '/cache/'),
        url.replace('image%2Fpng', 'text%2Fhtml'),
        url.replace('Expires=60', 'Expires=600'),
        url.split('?')[0] ?? '',
        presign(server.settings, { accessKeyId, secretAccessKey }, 'v1/x', past),
      ]) {
        const answer = await fetch(invalid);
        await answer.arrayBuffer();
        expect(answer.status, invalid).toBe(403);
      }
    });

    test('are off by default', async () => {
      expect(await urlOf({ presignedReads: false })).toBeNull();
    });
  });

  describe('the check', () => {
    test('reports the location, and leaves nothing', async () => {
      const { store, settings, files } = await startS3Store(server);
      expect(await store.check()).toEqual({
        place: `bucket lectern-tests/${settings.prefix.slice(0, -1)} at ${settings.endpoint}`,
        freeBytes: null,
        sizeBytes: null,
      });
      await store.ping();
      expect(await files()).toEqual([]);
    });

    const { accessKey: accessKeyId, secretKey: secretAccessKey } = strangersKey;
    const down = { endpoint: 'http://127.0.0.1:1' };
    test.each([
      ['a missing bucket', { bucket: 'missing' }, /does not exist: create the bucket missing/],
      ['a wrong secret', { secretAccessKey: 'wrong' }, /rejects the signature: correct S3_SECRET_ACCESS_KEY/],
      [
        'an unknown key',
        { accessKeyId: 'unknown' },
        /does not know the access key unknown: correct S3_ACCESS_KEY_ID/,
      ],
      ['a key without permissions', { accessKeyId, secretAccessKey }, /denies access: its key has to list/],
      ['no service', down, /does not respond \(ECONNREFUSED\): check that it runs, and/],
    ] satisfies [string, Partial<S3Settings>, RegExp][])('reports %s with advice', async (_, bad, fix) => {
      const limits = { ...defaultLimits, retryBudgetMs: 0 };
      const options = { lastUses: noLastUses, spoolFolder: '/nowhere', partBytes: minPartBytes, limits };
      const store = createS3Store({ ...server.settings, ...bad }, options);
      const message: unknown = expect.stringMatching(fix);
      await expect(store.check()).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message });
      await expect(store.ping()).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    });
  });
});

test("S3's largest object fits into fewer than 10,000 parts, which fit into buffers", () => {
  const largest = 5 * 1024 ** 4;
  let [size, parts] = [0, 0];
  while (size < largest) size += growingPartBytes((parts += 1), 32 * mebibyte);
  expect(parts).toBeLessThan(10_000);
  expect(growingPartBytes(10_000, 32 * mebibyte)).toBeLessThanOrEqual(2 * 1024 ** 3);
  expect(growingPartBytes(5_000, 32 * mebibyte)).toBe(32 * mebibyte);
  expect(largest / partBytesOf(largest)).toBeLessThan(10_000);
});

describe('presign', () => {
  /** From the example in "Authenticating Requests: Using Query Parameters" of Amazon's S3 API reference. */
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  const options = { seconds: 86_400, at: new Date('2013-05-24T00:00:00Z'), query: {} };
  const settings: S3Settings = {
    kind: 's3',
    endpoint: 'https://s3.amazonaws.com',
    bucket: 'examplebucket',
    region: 'us-east-1',
    accessKeyId: undefined,
    secretAccessKey: undefined,
    prefix: '',
    forcePathStyle: false,
    presignedReads: true,
  };

  test("returns the signature of Amazon's example, and adds the session token of a role", () => {
    const url = new URL(presign(settings, credentials, 'test.txt', options));
    expect(url.origin + url.pathname).toBe('https://examplebucket.s3.amazonaws.com/test.txt');
    expect(Object.fromEntries(url.searchParams)).toStrictEqual({
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request',
      'X-Amz-Date': '20130524T000000Z',
      'X-Amz-Expires': '86400',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    });
    const withRole = presign(settings, { ...credentials, sessionToken: 'a+b=' }, 'a', options);
    expect(new URL(withRole).searchParams.get('X-Amz-Security-Token')).toBe('a+b=');
  });

  const path = { forcePathStyle: true };
  const proxied = 'http://h.example:9000/s3';
  test.each([
    [{ endpoint: undefined }, 'https://examplebucket.s3.us-east-1.amazonaws.com/a/b'],
    [{ endpoint: undefined, region: 'cn-x-1' }, 'https://examplebucket.s3.cn-x-1.amazonaws.com.cn/a/b'],
    [{ endpoint: undefined, ...path }, 'https://s3.us-east-1.amazonaws.com/examplebucket/a/b'],
    [{ endpoint: 'http://[::1]:9000', ...path }, 'http://[::1]:9000/examplebucket/a/b'],
    [{ endpoint: `${proxied}/`, ...path }, `${proxied}/examplebucket/a/b`],
    [{ prefix: 'one/two/' }, 'https://examplebucket.s3.amazonaws.com/one/two/a/b'],
  ] satisfies [Partial<S3Settings>, string][])('with %o signs the URL %s', (changes, expected) => {
    expect(presign({ ...settings, ...changes }, credentials, 'a/b', options).split('?')[0]).toBe(expected);
  });
});
