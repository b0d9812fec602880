import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectError } from '../support/answers.ts';
import { storeAsset } from './assets.ts';

let harness: Harness;
let api: string;
/** A file of ten bytes. */
let address: string;
let etag: string;

beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  const { path, sha256 } = await storeAsset(harness, '0123456789');
  address = api + path;
  etag = `"${sha256}"`;
});
afterAll(() => harness.close());

/** What page script of any origin needs, errors included. */
function expectOpenToAll(headers: Headers): void {
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-allow-credentials')).toBeNull();
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

test('a file comes whole, with its length, ETag and type, for every origin and cache, until its address expires', async () => {
  const { status, headers, body } = await ask(address);
  expect({ status, text: body.toString() }).toEqual({ status: 200, text: '0123456789' });
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '10',
    etag,
    'accept-ranges': 'bytes',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag, Repr-Digest',
  });
  expectOpenToAll(headers);
  const [, seconds] = /^public, max-age=(\d+), immutable$/.exec(headers.get('cache-control') ?? '') ?? [];
  const left = Number(new URL(address).searchParams.get('expires')) - Date.now() / 1000;
  expect(Math.abs(Number(seconds) - left)).toBeLessThan(60);
  expect(headers.get('set-cookie')).toBeNull();
});

test('HEAD tells the same of the whole file, whatever range is asked for', async () => {
  const head = await ask(address, { method: 'HEAD', headers: { range: 'bytes=2-4' } });
  const whole = await ask(address);
  expect({ status: head.status, bytes: head.body.length }).toEqual({ status: 200, bytes: 0 });
  for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges', 'content-security-policy'])
    expect(head.headers.get(name)).toBe(whole.headers.get(name));
});

test('a file without bytes comes as such', async () => {
  const { path } = await storeAsset(harness, '');
  const { status, headers, body } = await ask(api + path);
  expect([status, headers.get('content-length'), body.length]).toEqual([200, '0', 0]);
});

describe('of a file of ten bytes', () => {
  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=5-', '56789', 'bytes 5-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=8-99', '89', 'bytes 8-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['Bytes=0-1', '01', 'bytes 0-1/10'],
  ])('%s is %s', async (range, text, contentRange) => {
    const { status, headers, body } = await ask(address, { headers: { range } });
    expect([status, body.toString(), headers.get('content-range')]).toEqual([206, text, contentRange]);
    expect(headers.get('content-length')).toBe(String(text.length));
    expect(headers.get('etag')).toBe(etag);
  });

  test.each(['bytes=0-1,4-5', 'bytes=', 'bytes=a-b', 'bytes 0-1', 'items=0-1', 'items=90-', 'bytes=1.5-2'])(
    '%s is all of it',
    async (range) => {
      const { status, headers, body } = await ask(address, { headers: { range } });
      expect([status, body.toString(), headers.get('content-range')]).toEqual([200, '0123456789', null]);
    },
  );

  test.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('%s is 416 with the size', async (range) => {
    const { status, headers, body } = await ask(address, { headers: { range } });
    expect([status, headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect(JSON.parse(body.toString())).toEqual({ error: 'The file has 10 bytes' });
    expect(headers.get('etag')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
    expectOpenToAll(headers);
  });
});

describe('If-Range', () => {
  const range = 'bytes=2-4';
  test('allows a part of the very same file', async () => {
    expect((await ask(address, { headers: { range, 'if-range': etag } })).status).toBe(206);
  });

  test.each([
    ['another ETag', () => `"${'0'.repeat(64)}"`],
    ['a weak ETag', () => `W/${etag}`],
    ['a date', () => new Date().toUTCString()],
    ['a list', () => `${etag}, "x"`],
  ])('with %s gets all of it', async (_what, value) => {
    expect((await ask(address, { headers: { range, 'if-range': value() } })).status).toBe(200);
  });
});

describe('If-None-Match', () => {
  test.each([
    ['its ETag', () => etag],
    ['its ETag as a weak one', () => `W/${etag}`],
    ['a list with it', () => `"x", ${etag}`],
    ['any', () => '*'],
  ])('with %s gets 304 and no bytes', async (_what, value) => {
    for (const method of ['GET', 'HEAD']) {
      const asked = { method, headers: { 'if-none-match': value(), range: 'bytes=0-1' } };
      const { status, headers, body } = await ask(address, asked);
      expect([status, body.length, headers.get('etag')]).toEqual([304, 0, etag]);
      expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+, immutable$/);
    }
  });

  test('with another ETag gets the file', async () => {
    expect((await ask(address, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });
});

describe('403 for every origin, and for no cache, is', () => {
  test.each([
    ['another type', () => address.replace('image/png', 'text/html')],
    ['another signature', () => address.replace(/signature=..../, 'signature=AAAA')],
    ['no signature', () => address.replace(/\?.*/, '')],
    ['an expiry given twice', () => `${address}&expires=1`],
    ['an encoded path', () => address.replace('picture.png', 'pictur%65.png')],
    ['no address of a file', () => `${api}/assets/v1/%2e%2e/health/live`],
  ])('%s', async (_what, wrong) => {
    const answer = await ask(wrong());
    expectError(answer, 403, 'Invalid or expired signature');
    expectOpenToAll(answer.headers);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('an address that has expired', async () => {
    const secret = harness.config.assetSecret ?? '';
    const file = { sha256: etag.slice(1, -1), size: 10, mimeType: 'image/png', fileName: 'picture.png' };
    const now = Date.now() - 2 * 3_600_000;
    const { url } = signAssetUrl(secret, { area: 'assets', ...file }, { now });
    expectError(await ask(api + url), 403, 'Invalid or expired signature');
  });
});

test('a file that is gone, or is not of the size that was signed, is 404', async () => {
  const gone = await storeAsset(harness, 'soon gone');
  await harness.store.assets.delete(gone.sha256);
  const other = await storeAsset(harness, '0123456789', { size: 11 });
  const elsewhere = await storeAsset(harness, 'only in the cache', { area: 'cache' });
  expectError(await ask(api + gone.path), 404, 'File not found');
  expectError(await ask(api + other.path), 404, 'File not found');
  expect((await ask(api + elsewhere.path)).body.toString()).toBe('only in the cache');
});

test('OPTIONS names what is allowed, with or without a signature', async () => {
  for (const target of [address, address.replace(/\?.*/, '')]) {
    const { status, headers, body } = await ask(target, { method: 'OPTIONS' });
    expect([status, body.length]).toEqual([204, 0]);
    expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toBe('Range, If-Range, If-Match, If-None-Match');
    expectOpenToAll(headers);
  }
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s is 405', async (method) => {
  const answer = await ask(address, { method });
  expectError(answer, 405, `${method} is not allowed here`);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expectOpenToAll(answer.headers);
});
