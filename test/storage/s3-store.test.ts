import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import { Bucket } from '../../shared/storage/s3/bucket.ts';
import { BucketLifecycle } from '../../shared/storage/s3/lifecycle.ts';
import { createS3Store } from '../../shared/storage/s3/s3-store.ts';
import { defaultLimits } from '../../shared/storage/s3/settings.ts';
import type { S3Settings } from '../../shared/storage/s3/settings.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import { someBytes } from '../exports/archives.ts';
import { strangersKey } from '../support/s3-server.ts';
import type { S3Server } from '../support/s3-server.ts';
import { minPartBytes, s3Name, startS3Store, useS3Server } from './kinds.ts';
import { archiveKey as key, read, readAndClose, storeArchive } from './stores.ts';

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

  describe('sweeps', () => {
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
    const options = { seconds: 60, contentType: 'image/png', contentDisposition: 'attachment' };
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
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 61_000 });
      onTestFinished(() => void vi.useRealTimers());
      const expired = (await urlOf()) ?? '';
      vi.useRealTimers();
      for (const invalid of [
        url.replace(/Signature=./, (text) => text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))),
        url.replace(digest.sha256, digestOf(Buffer.alloc(0)).sha256),
        url.replace('/assets/', '/cache/'),
        url.replace('image%2Fpng', 'text%2Fhtml'),
        url.replace('Expires=60', 'Expires=600'),
        url.split('?')[0] ?? '',
        expired,
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

  test('a lifecycle rule against abandoned uploads is added to those of the bucket, and recognized', async () => {
    const settings = { ...server.settings, bucket: `rules-${randomUUID()}` };
    const { client } = new Bucket(settings, defaultLimits);
    const bucket = { Bucket: settings.bucket };
    await client.send(new CreateBucketCommand(bucket));
    const lifecycle = new BucketLifecycle(settings);
    expect(await lifecycle.hasRule()).toBe(false);
    const own = {
      ID: 'own',
      Status: 'Enabled',
      Filter: { Prefix: 'tmp/' },
      Expiration: { Days: 1 },
    } as const;
    await client.send(
      new PutBucketLifecycleConfigurationCommand({ ...bucket, LifecycleConfiguration: { Rules: [own] } }),
    );
    expect(await lifecycle.hasRule()).toBe(false);
    for (let times = 0; times < 2; times += 1) await lifecycle.addRule();
    expect(await lifecycle.hasRule()).toBe(true);
    const { Rules } = await client.send(new GetBucketLifecycleConfigurationCommand(bucket));
    expect(Rules?.map(({ ID }) => ID).toSorted()).toEqual(['lectern-abandoned-uploads', 'own']);
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
      const limits = { ...defaultLimits, maxAttempts: 1 };
      const options = { lastUses: noLastUses, spoolFolder: '/nowhere', partBytes: minPartBytes, limits };
      const store = createS3Store({ ...server.settings, ...bad }, options);
      const message: unknown = expect.stringMatching(fix);
      await expect(store.check()).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message });
      await expect(store.ping()).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
    });
  });
});

describe('URLs of objects', () => {
  const settings: S3Settings = {
    kind: 's3',
    endpoint: 'https://s3.amazonaws.com',
    bucket: 'examplebucket',
    region: 'us-east-1',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    prefix: '',
    forcePathStyle: false,
    presignedReads: true,
  };
  const path = { forcePathStyle: true };
  const proxied = 'http://h.example:9000/s3';
  test.each([
    [{ endpoint: undefined }, 'https://examplebucket.s3.us-east-1.amazonaws.com/a/b'],
    [
      { endpoint: undefined, region: 'cn-north-1' },
      'https://examplebucket.s3.cn-north-1.amazonaws.com.cn/a/b',
    ],
    [{ endpoint: undefined, ...path }, 'https://s3.us-east-1.amazonaws.com/examplebucket/a/b'],
    [{ endpoint: 'http://[::1]:9000', ...path }, 'http://[::1]:9000/examplebucket/a/b'],
    [{ endpoint: `${proxied}/`, ...path }, `${proxied}/examplebucket/a/b`],
    [{ prefix: 'one/two/' }, 'https://examplebucket.s3.amazonaws.com/one/two/a/b'],
  ] satisfies [Partial<S3Settings>, string][])('with %o begin %s', async (changes, expected) => {
    const bucket = new Bucket({ ...settings, ...changes }, defaultLimits);
    expect((await bucket.presign('a/b', { seconds: 60 })).href.split('?')[0]).toBe(expected);
  });
});
