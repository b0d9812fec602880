import { createHash, randomBytes } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { canCountFiles, openFiles } from '../http/open-files.ts';
import { ask, expectError } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { storeAsset } from './store-asset.ts';

const api = useApi();
/** A file of ten bytes. */
let url: string;
let etag: string;
beforeAll(async () => {
  const { path, sha256 } = await storeAsset(api, '0123456789');
  url = api.url + path;
  etag = `"${sha256}"`;
});

/** Asserts the headers that scripts of any origin need, also on errors. */
function expectPublic(headers: Headers): void {
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-allow-credentials')).toBeNull();
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

test('a file has its length, ETag and type, and caches keep it until its URL expires', async () => {
  const { status, headers, body } = await ask(url);
  expect({ status, text: body.toString() }).toEqual({ status: 200, text: '0123456789' });
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '10',
    etag,
    'accept-ranges': 'bytes',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-expose-headers':
      'Accept-Ranges, Content-Length, Content-Range, ETag, Repr-Digest, Error-Code',
  });
  expectPublic(headers);
  const [, seconds] = /^public, max-age=(\d+), immutable$/.exec(headers.get('cache-control') ?? '') ?? [];
  const left = Number(new URL(url).searchParams.get('expires')) - Date.now() / 1000;
  expect(Math.abs(Number(seconds) - left)).toBeLessThan(60);
  expect(headers.get('set-cookie')).toBeNull();

  const head = await ask(url, { method: 'HEAD', headers: { range: 'bytes=2-4' } });
  expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
  for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges', 'content-security-policy'])
    expect(head.headers.get(name)).toBe(headers.get(name));
});

test('an empty file is served as such', async () => {
  const { path } = await storeAsset(api, '');
  const { status, headers, body } = await ask(api.url + path);
  expect([status, headers.get('content-length'), body.length]).toEqual([200, '0', 0]);
});

describe('Range', () => {
  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=5-', '56789', 'bytes 5-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['Bytes=0-1', '01', 'bytes 0-1/10'],
  ])('%s returns %s', async (range, text, contentRange) => {
    const { status, headers, body } = await ask(url, { headers: { range } });
    expect([status, body.toString(), headers.get('content-range')]).toEqual([206, text, contentRange]);
    expect(headers.get('content-length')).toBe(String(text.length));
    expect(headers.get('etag')).toBe(etag);
  });

  test.each(['bytes=0-1,4-5', 'bytes=a-b', 'items=0-1'])('%s returns the whole file', async (range) => {
    const { status, headers, body } = await ask(url, { headers: { range } });
    expect([status, body.toString(), headers.get('content-range')]).toEqual([200, '0123456789', null]);
  });

  test.each(['bytes=10-', 'bytes=-0'])('%s returns 416 with the size', async (range) => {
    const answer = await ask(url, { headers: { range } });
    expectError(answer, 416, 'The file has 10 bytes');
    expect(answer.headers.get('content-range')).toBe('bytes */10');
    expect(answer.headers.get('etag')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expectPublic(answer.headers);
  });

  test.each([
    ['its ETag', () => etag, 206],
    ['another ETag', () => `"${'0'.repeat(64)}"`, 200],
    ['a weak ETag', () => `W/${etag}`, 200],
  ])('with %s in If-Range returns %3$i', async (_what, value, status) => {
    const headers = { range: 'bytes=2-4', 'if-range': value() };
    expect((await ask(url, { headers })).status).toBe(status);
  });
});

test.each([
  ['its ETag', () => etag],
  ['a list with it', () => `"x", ${etag}`],
  ['any', () => '*'],
])('If-None-Match with %s returns 304 without bytes', async (_what, value) => {
  for (const method of ['GET', 'HEAD']) {
    const options = { method, headers: { 'if-none-match': value(), range: 'bytes=0-1' } };
    const { status, headers, body } = await ask(url, options);
    expect([status, body.length, headers.get('etag')]).toEqual([304, 0, etag]);
    expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+, immutable$/);
  }
  expect((await ask(url, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
});

test.each([
  ['another signature', () => url.replace(/signature=..../, 'signature=AAAA')],
  ['no file', () => `${api.url}/assets/v1/%2e%2e/health/live`],
])('a URL with %s gets 403 for every origin, and no cache keeps it', async (_what, wrong) => {
  const answer = await ask(wrong());
  expectError(answer, 403, 'Invalid or expired signature');
  expectPublic(answer.headers);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('a missing file, and one of another size than signed, get 404', async () => {
  const missing = await storeAsset(api, 'soon gone');
  await api.store.assets.delete(missing.sha256);
  const other = await storeAsset(api, '0123456789', { size: 11 });
  const cached = await storeAsset(api, 'only in the cache', { area: 'cache' });
  expectError(await ask(api.url + missing.path), 404, 'File not found');
  expectError(await ask(api.url + other.path), 404, 'File not found');
  expect((await ask(api.url + cached.path)).body.toString()).toBe('only in the cache');
});

test('OPTIONS lists methods and headers, with or without a signature; other methods get 405', async () => {
  for (const target of [url, url.replace(/\?.*/, '')]) {
    const { status, headers, body } = await ask(target, { method: 'OPTIONS' });
    expect([status, body.length]).toEqual([204, 0]);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toBe('Range, If-Range, If-Match, If-None-Match');
    expectPublic(headers);
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    const answer = await ask(url, { method });
    expectError(answer, 405, `${method} is not allowed here`);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expectPublic(answer.headers);
  }
});

describe('clients of a large file', () => {
  /** More than all socket buffers, so that a client that stops reading stops the server. */
  const size = 20 * 1024 ** 2;
  let large: { url: string; sha256: string };
  let folder: string;
  beforeAll(async () => {
    folder = join(api.config.storeDir, 'v1', 'assets');
    const { path, sha256 } = await storeAsset(api, randomBytes(size));
    large = { url: api.url + path, sha256 };
  });

  /** Requests the file; resolves with a response whose body is unread. */
  function startDownload(headers: Record<string, string> = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(large.url, { headers }, resolve).on('error', reject);
    });
  }

  const noneOpen = async () => (await openFiles(folder)).length === 0;

  test('that read in bursts get exactly the bytes of their file', async () => {
    const { path, sha256 } = await storeAsset(api, randomBytes(size));
    const files = [large, { url: api.url + path, sha256 }];
    const received = await Promise.all(
      files.map(async (file) => {
        const hash = createHash('sha256');
        for await (const chunk of (await fetch(file.url)).body ?? []) {
          hash.update(chunk as Uint8Array);
          await setImmediate();
        }
        return hash.digest('hex');
      }),
    );
    expect(received).toEqual(files.map((file) => file.sha256));
  });

  test.runIf(canCountFiles)('leave no file open after a download, whole or aborted', async () => {
    const whole = await startDownload({ range: `bytes=1-${size - 1}` });
    expect(await openFiles(folder)).toHaveLength(1);
    let received = 0;
    for await (const chunk of whole) received += (chunk as Buffer).length;
    expect(received).toBe(size - 1);
    await waitFor('the file to be closed', noneOpen);

    const aborted = await Promise.all(Array.from({ length: 20 }, () => startDownload()));
    await Promise.all(aborted.map((one) => new Promise((resolve) => one.once('readable', resolve))));
    expect(await openFiles(folder)).toHaveLength(20);
    for (const one of aborted) one.destroy();
    await waitFor('the files to be closed', noneOpen);
  });

  test.runIf(canCountFiles)('leave no file open when they disconnect before the response', async () => {
    for (let turns = 0; turns < 30; turns += 1) {
      const request = get(large.url);
      request.on('error', () => undefined).on('response', (response) => response.resume());
      await new Promise((resolve) => request.once('finish', resolve));
      // A little later each time, so that the server meets a lost client at every step.
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      request.destroy();
    }
    await waitFor('the files to be closed', noneOpen);
  });

  test.runIf(canCountFiles)('leave no file open after responses without a body', async () => {
    const requests: AskOptions[] = [
      { method: 'HEAD' },
      { headers: { 'if-none-match': `"${large.sha256}"` } },
      { headers: { range: `bytes=${size}-` } },
      { method: 'OPTIONS' },
      { method: 'POST' },
    ];
    const statuses = requests.map(async (options) => (await ask(large.url, options)).status);
    expect(await Promise.all(statuses)).toEqual([200, 304, 416, 204, 405]);
    await waitFor('the files to be closed', noneOpen);
  });

  test('get a closed connection, not a short file, when the disk truncates it', async () => {
    const response = await startDownload();
    await truncate(join(folder, large.sha256.slice(0, 2), large.sha256), size / 2);
    const readAll = async () => {
      for await (const chunk of response) void chunk;
    };
    await expect(readAll()).rejects.toThrow('aborted');
    expect(response.complete).toBe(false);
  });
});
