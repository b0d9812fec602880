import { describe, expect, test } from 'vitest';
import { readAssetUrl, signAssetUrl } from '../../shared/media/asset-urls.ts';
import type { Asset } from '../../shared/media/asset-urls.ts';

const secret = 'a secret for these tests, which is long enough';
const hour = 3_600_000;
const asset: Asset = {
  area: 'assets',
  sha256: 'ab'.repeat(32),
  size: 1234,
  mimeType: 'image/svg+xml',
  fileName: '0151fa3f-dced-4ca0-be37-d7bbb1f35d84.svg',
};
const noon = Date.UTC(2026, 0, 15, 12);

function read(url: string, now = noon, key = secret) {
  const { pathname, searchParams } = new URL(url, 'http://lectern.example');
  const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')];
  return readAssetUrl(key, { path: pathname, expires, signature }, now);
}

test('an address says all that is needed to serve its file', () => {
  const { url, expiresAt } = signAssetUrl(secret, asset, { now: noon });
  expect(read(url)).toEqual({ ...asset, expiresAt });
});

test('an address that was normalized as a URL is still the one that was signed', () => {
  const { url } = signAssetUrl(secret, asset, { now: noon, base: 'https://lectern.example/lessons' });
  expect(new URL(url).href).toBe(url);
  expect(url.startsWith('https://lectern.example/lessons/assets/v1/')).toBe(true);
});

describe('the address of a file', () => {
  test('is the same for half an hour, and another one after that', () => {
    const at = (minutes: number) => signAssetUrl(secret, asset, { now: noon + minutes * 60_000 }).url;
    expect(new Set([0, 1, 29.999].map(at)).size).toBe(1);
    expect(at(30)).not.toBe(at(0));
  });

  test.each([
    { seconds: undefined, least: 1, most: 1.5 },
    { seconds: 4 * 3600, least: 4, most: 4.5 },
  ])(
    'that is asked for with $seconds seconds lives for $least to $most hours',
    ({ seconds, least, most }) => {
      for (const minutes of [0, 1, 59.999]) {
        const now = noon + minutes * 60_000;
        const { url, expiresAt } = signAssetUrl(secret, asset, { now, ...(seconds && { seconds }) });
        const life = expiresAt.getTime() - now;
        expect(life).toBeGreaterThan(least * hour);
        expect(life).toBeLessThanOrEqual(most * hour);
        expect(read(url, expiresAt.getTime() - 1)).not.toBeNull();
        expect(read(url, expiresAt.getTime())).toBeNull();
      }
    },
  );
});

describe('nothing is read from an address', () => {
  const { url } = signAssetUrl(secret, asset, { now: noon });
  const signature = /signature=(.*)/.exec(url)?.[1] ?? '';

  test.each([
    ['with another digest', url.replace('abab', 'abac')],
    ['with another size', url.replace('/1234/', '/1235/')],
    ['from another area', url.replace('/assets/ab', '/cache/ab')],
    ['of another type', url.replace('image/svg+xml', 'text/html')],
    ['under another file name', url.replace('.svg?', '.html?')],
    ['of another version', url.replace('/v1/', '/v2/')],
    ['that is to live longer', url.replace(/expires=(\d)/, 'expires=9')],
    ['whose expiry is written otherwise', url.replace('expires=', 'expires=0')],
    ['without an expiry', url.replace(/expires=\d+&/, '')],
    ['without a signature', url.replace(/&signature=.*/, '')],
    ['with an empty signature', url.replace(/signature=.*/, 'signature=')],
    ['with half of its signature', url.replace(/signature=.*/, `signature=${signature.slice(0, 20)}`)],
    ['with a longer signature', `${url}A`],
    ['with a signature in another encoding', url.replace(/signature=.*/, `signature=${signature}=`)],
  ])('%s', (_fault, changed) => {
    expect(changed).not.toBe(url);
    expect(read(changed)).toBeNull();
  });

  test('that was signed with another secret', () => {
    expect(read(url, noon, `${secret}!`)).toBeNull();
  });

  test('that has the signature of another file', () => {
    const other = signAssetUrl(secret, { ...asset, sha256: 'cd'.repeat(32) }, { now: noon }).url;
    expect(read(other.replace(/signature=.*/, `signature=${signature}`))).toBeNull();
  });

  test('whose expiry or signature is given twice', () => {
    const path = new URL(url, 'http://lectern.example').pathname;
    const expires = /expires=(\d+)/.exec(url)?.[1] ?? '';
    expect(readAssetUrl(secret, { path, expires, signature }, noon)).not.toBeNull();
    expect(readAssetUrl(secret, { path, expires: [expires, expires], signature }, noon)).toBeNull();
    expect(readAssetUrl(secret, { path, expires, signature: [signature] }, noon)).toBeNull();
  });
});

test('an invalid type is signed as an unknown one', () => {
  for (const mimeType of ['', 'image', '../..', 'image/..', './svg', 'image/png; charset=x', 'a b/c']) {
    const { url } = signAssetUrl(secret, { ...asset, mimeType }, { now: noon });
    expect(read(url)?.mimeType, mimeType).toBe('application/octet-stream');
  }
});

test('no file name gets an address that would lead elsewhere', () => {
  for (const fileName of ['', '../x', 'a/b', 'a?b', 'a"b', 'a b', 'ä.png', 'a\nb']) {
    expect(() => signAssetUrl(secret, { ...asset, fileName }), fileName).toThrow();
  }
});
