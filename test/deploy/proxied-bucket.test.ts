import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { storeAsset } from '../media/store-asset.ts';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { findDebianProgram } from '../support/debian-programs.ts';
import { exampleConfig, startNginx } from '../support/nginx.ts';
import type { Nginx } from '../support/nginx.ts';
import { environmentOf } from '../support/s3-server.ts';
import { useApi, useStarted } from '../support/use.ts';
import { startBucketFront } from './bucket-front.ts';
import type { BucketFront } from './bucket-front.ts';
import { comparable, exportArchive, requestsFor } from './proxied-requests.ts';

const s3Server = useS3Server();
const program = await findDebianProgram('nginx', inject('cacheDir'));
const settings = s3Server === null ? null : (await s3Server()).settings;

/** Headers that S3 and compatible services send with objects. */
const bucketHeaders = {
  'Accept-Ranges': 'none',
  'Cache-Control': 'public, max-age=31536000',
  'CF-Ray': '1',
  'Content-Disposition': 'inline; filename="bucket"',
  'Content-Language': 'xx',
  'Content-Type': 'text/bucket',
  ETag: '"of the bucket"',
  Expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
  'Last-Modified': 'Thu, 01 Jan 2015 00:00:00 GMT',
  Server: 'bucket',
  'Set-Cookie': ['bucket=1'],
  'X-Accel-Buffering': 'no',
  'X-Accel-Charset': 'bucket',
  'X-Accel-Limit-Rate': '10',
  'X-Accel-Redirect': '/health',
  'X-Amz-Checksum-Sha256': 'bucket',
  'X-Amz-Expiration': 'bucket',
  'X-Amz-Id-2': 'bucket',
  'X-Amz-Request-Id': 'bucket',
  'X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id': 'bucket',
  'X-Amz-Storage-Class': 'bucket',
  'X-Amz-Version-Id': 'bucket',
  'X-Minio-Deployment-Id': 'bucket',
  'X-Request-Id': 'bucket',
};

/** All headers of a failure. */
const ofFailure = [
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'error-code',
  'retry-after',
  'server',
  'x-request-id',
];

describe.skipIf(settings === null || program === null)(`nginx sends files of ${s3Name}`, () => {
  const api = useApi(
    {
      ...(settings !== null && environmentOf(settings)),
      TRUST_PROXY: '1',
      SENDFILE_HEADER: 'X-Accel-Redirect',
    },
    { worker: true },
  );
  const front = useStarted(
    (): Promise<BucketFront> => startBucketFront(settings?.endpoint ?? ''),
    (started) => started.close(),
  );
  const proxy = useStarted(
    (): Promise<Nginx> =>
      startNginx(program ?? '', async (port) => {
        const bucket = settings?.endpoint ?? '';
        const example = await exampleConfig(port, { api: api.url, bucket });
        return example
          .replace(`server ${new URL(bucket).host};`, `server ${front.host};`)
          .replace('add_header Accept-Ranges bytes;', '$&\n  add_header X-Sent-By proxy;');
      }),
    (started) => started.stop(),
  );

  let archive: string;
  let key: string;
  let whole: Answer;
  let etag: string;

  beforeAll(async () => {
    ({ archive, key, whole, etag } = await exportArchive(api));
  });
  beforeEach(() => front.reset());

  const get = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(url, { method, headers: { ...api.headers, ...headers } });
  const proxied = { 'x-forwarded-for': '192.0.2.1' };

  test.each(requestsFor(() => etag))(
    'a request for %s gets the same through nginx as without it',
    async (_, given, isProxied, method) => {
      const headers = { 'x-request-id': 'one', ...(typeof given === 'function' ? given() : given) };
      const direct = await get(api.url + archive, headers, method);
      const answer = await get(proxy.url + archive, headers, method);
      expect(comparable(answer)).toEqual(comparable(direct));
      expect(answer.headers.get('x-sent-by')).toBe(isProxied ? 'proxy' : null);
      expect(front.requests).toHaveLength(isProxied ? 1 : 0);
    },
  );

  test('large media keep their headers too; a small one is in memory already, so the API sends it', async () => {
    const about = { mimeType: 'application/pdf', fileName: 'a.pdf' };
    for (const [size, sentBy] of [
      [300_000, 'proxy'],
      [5_000, null],
    ] as const) {
      const { path } = await storeAsset(api, randomBytes(size), about);
      for (const range of ['', 'bytes=0-99']) {
        const headers = { 'x-request-id': 'one', range };
        const answer = await get(proxy.url + path, headers);
        expect(comparable(answer)).toEqual(comparable(await get(api.url + path, headers)));
        expect(answer.headers.get('x-sent-by')).toBe(sentBy);
      }
    }
  });

  test("the bucket's headers reach no client, and direct no proxy", async () => {
    const expected = comparable(await get(api.url + archive, { 'x-request-id': 'one' }));
    front.headers = bucketHeaders;
    expect(comparable(await get(proxy.url + archive, { 'x-request-id': 'one' }))).toEqual(expected);
  });

  test('a client that sends the headers of the protocol gets the archive, and the bucket gets none of them', async () => {
    const hostile = {
      'x-accel-redirect': '/lectern-bucket/etc/passwd',
      'x-lectern-range': 'bytes=0-0',
      'x-sendfile': '/etc/passwd',
      'x-amz-security-token': 'hostile',
      cookie: 'a=b',
      'if-none-match': '"another"',
    };
    const answer = await get(proxy.url + archive, hostile);
    expect([answer.status, answer.body.equals(whole.body)]).toEqual([200, true]);
    const [{ method, headers } = { method: '', headers: {} }] = front.requests;
    expect(method).toBe('GET');
    expect(Object.keys(headers)).toEqual(['host']);
    expect(headers.host).toBe(new URL(settings?.endpoint ?? '').host);
  });

  test('clients cannot request the location of the bucket, not even with a valid URL', async () => {
    const leaked = (await get(api.url + archive, proxied)).headers.get('x-accel-redirect') ?? '';
    expect(leaked).toMatch(/^\/lectern-bucket\/lectern-tests\/.+&X-Amz-Signature=/);
    for (const path of [leaked, leaked.replace('/lectern-bucket', '//lectern-bucket'), '/lectern-bucket/']) {
      expect((await get(proxy.url + path)).status).toBe(404);
    }
    expect(front.requests).toEqual([]);
  });

  test('the URL is valid for five minutes, for one object, for reading, also after an eviction', async () => {
    const { headers, status, body } = await get(api.url + archive, { ...proxied, range: 'bytes=-50' });
    expect([status, body.length, headers.get('content-range')]).toEqual([200, 0, null]);
    const size = whole.body.length;
    expect(headers.get('x-lectern-range')).toBe(`bytes=${size - 50}-${size - 1}`);
    const target = (headers.get('x-accel-redirect') ?? '').replace('/lectern-bucket', '');
    expect(new URL(target, settings?.endpoint).searchParams.get('X-Amz-Expires')).toBe('300');
    await api.store.archives.delete(key);
    const read = await fetch(`${settings?.endpoint}${target}`);
    expect(Buffer.from(await read.arrayBuffer()).equals(whole.body)).toBe(true);
    const removed = await fetch(`${settings?.endpoint}${target}`, { method: 'DELETE' });
    expect(removed.status).toBe(403);
    await get(api.url + archive);
  });

  test.each([
    ['that has no such object', 404, {}],
    ['that denies access', 403, {}],
    ['that is elsewhere', 307, { Location: 'http://192.0.2.1/bucket' }],
    ['that wants fewer requests', 503, {}],
    ['that does not know the range', 416, {}],
  ])('a bucket %s is a clean 502 without its text', async (_, status, headers) => {
    front.respond = (response) => {
      response.writeHead(status, { ...headers, 'Content-Type': 'application/xml', 'X-Amz-Id-2': 'bucket' });
      response.end('<Error>of the bucket</Error>');
    };
    await expectFailure();
  });

  async function expectFailure(): Promise<void> {
    const answer = await fetch(proxy.url + archive, { headers: api.headers, redirect: 'manual' });
    const { headers } = answer;
    expect(answer.status).toBe(502);
    const error = 'The store did not send the file. Request it again.';
    expect(await answer.json()).toEqual({ error, code: 'BAD_GATEWAY' });
    expect(headers.get('error-code')).toBe('BAD_GATEWAY');
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('retry-after')).toBe('10');
    expect([...headers.keys()].filter((name) => !ofFailure.includes(name))).toEqual([]);
  }

  test('a transfer that breaks off is no complete response, and the client can resume it', async () => {
    front.respond = (response: ServerResponse) => {
      response.writeHead(200, { 'Content-Length': whole.body.length });
      response.write(whole.body.subarray(0, 1_000), () => response.destroy());
    };
    const broken = await fetch(proxy.url + archive, { headers: api.headers });
    expect(broken.headers.get('etag')).toBe(etag);
    await expect(broken.arrayBuffer()).rejects.toThrow();
    front.reset();
    const rest = await get(proxy.url + archive, { range: 'bytes=1000-', 'if-range': etag });
    expect([rest.status, rest.body.equals(whole.body.subarray(1_000))]).toEqual([206, true]);
  });
});
