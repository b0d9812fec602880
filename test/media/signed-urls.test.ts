import { describe, expect, test } from 'vitest';
import { readAssetUrl, signAssetUrl } from '../../shared/media/asset-urls.ts';
import type { Asset } from '../../shared/media/asset-urls.ts';
import {
  isContentUrl,
  redactContentSignature,
  signContentUrl,
  signPreviewUrl,
} from '../../shared/media/content-urls.ts';

const secret = 'a secret for these tests, which is long enough';
const hourMs = 3_600_000;
const noon = Date.UTC(2026, 0, 15, 12);
const base = 'https://lectern.example/lessons';

describe('URLs of files', () => {
  const asset: Asset = {
    area: 'assets',
    sha256: 'ab'.repeat(32),
    size: 1234,
    mimeType: 'image/svg+xml',
    fileName: '0151fa3f-dced-4ca0-be37-d7bbb1f35d84.svg',
  };
  const { url, expiresAt } = signAssetUrl(secret, asset, { now: noon });
  const signature = /signature=(.*)/.exec(url)?.[1] ?? '';

  function read(signed: string, now = noon, key = secret) {
    const { pathname, searchParams } = new URL(signed, 'http://lectern.example');
    const [expires, sent] = [searchParams.get('expires'), searchParams.get('signature')];
    return readAssetUrl(key, { path: pathname, expires, signature: sent }, now);
  }

  test('have all that serving needs, and survive URL normalization', () => {
    expect(read(url)).toEqual({ ...asset, expiresAt });
    const absolute = signAssetUrl(secret, asset, { now: noon, base }).url;
    expect(new URL(absolute).href).toBe(absolute);
    expect(absolute.startsWith(`${base}/assets/v1/`)).toBe(true);
  });

  test.each([
    { seconds: undefined, least: 1, most: 1.5 },
    { seconds: 4 * 3600, least: 4, most: 4.5 },
  ])('stay equal for half an hour, and are valid for $least to $most hours', ({ seconds, least, most }) => {
    const at = (minutes: number) =>
      signAssetUrl(secret, asset, { now: noon + minutes * 60_000, ...(seconds && { seconds }) });
    expect(new Set([0, 1, 29.999].map((minutes) => at(minutes).url)).size).toBe(1);
    expect(at(30).url).not.toBe(at(0).url);
    for (const minutes of [0, 1, 59.999]) {
      const signed = at(minutes);
      const lifetimeMs = signed.expiresAt.getTime() - (noon + minutes * 60_000);
      expect(lifetimeMs).toBeGreaterThan(least * hourMs);
      expect(lifetimeMs).toBeLessThanOrEqual(most * hourMs);
      expect(read(signed.url, signed.expiresAt.getTime() - 1)).not.toBeNull();
      expect(read(signed.url, signed.expiresAt.getTime())).toBeNull();
    }
  });

  test('are valid for at most 60 days, whoever signed them', () => {
    const until = new Date(noon + 60 * 24 * hourMs);
    const signed = signAssetUrl(secret, asset, { until, now: noon }).url;
    expect(read(signed)).not.toBeNull();
    expect(read(signed, noon - 1)).toBeNull();
  });

  const other = signAssetUrl(secret, { ...asset, sha256: 'cd'.repeat(32) }, { now: noon }).url;
  test.each([
    ['another digest', url.replace('abab', 'abac')],
    ['another area', url.replace('/assets/ab', '/cache/ab')],
    ['another type', url.replace('image/svg+xml', 'text/html')],
    ['another file name', url.replace('.svg?', '.html?')],
    ['a later expiry', url.replace(/expires=(\d)/, 'expires=9')],
    ['a padded expiry', url.replace('expires=', 'expires=0')],
    ['no signature', url.replace(/&signature=.*/, '')],
    ['half of the signature', url.replace(/signature=.*/, `signature=${signature.slice(0, 20)}`)],
    ['a longer signature', `${url}A`],
    ['the signature of another file', other.replace(/signature=.*/, `signature=${signature}`)],
  ])('are rejected with %s', (_fault, changed) => {
    expect(changed).not.toBe(url);
    expect(read(changed)).toBeNull();
  });

  test('are rejected with a repeated expiry or signature, and with another secret', () => {
    const path = new URL(url, 'http://lectern.example').pathname;
    const expires = /expires=(\d+)/.exec(url)?.[1] ?? '';
    expect(readAssetUrl(secret, { path, expires, signature }, noon)).not.toBeNull();
    expect(readAssetUrl(secret, { path, expires: [expires, expires], signature }, noon)).toBeNull();
    expect(readAssetUrl(secret, { path, expires, signature: [signature] }, noon)).toBeNull();
    expect(read(url, noon, `${secret}!`)).toBeNull();
  });
});

describe('URLs of a version', () => {
  const scope = {
    lessonId: 'b2c31cf9-50e1-41e9-8a87-a67383019488',
    versionId: 'c8f0a5d2-6a3e-4b57-9d0a-3f1f6f2b7a10',
  };

  /** Splits a URL like the router. */
  function partsOf(url: string) {
    const [, , , lessonId = '', versionId = '', expires = '', signature = ''] = url.split('/');
    return { lessonId, versionId, expires, signature };
  }
  const valid = partsOf(signContentUrl(secret, 'files', scope, { now: noon }).url);

  test('stay equal for half an hour, and are valid for 60 to 90 minutes', () => {
    for (const now of [noon, noon + 1, noon + hourMs / 4, noon + hourMs / 2 - 1]) {
      const signed = signContentUrl(secret, 'files', scope, { now });
      expect(signed).toEqual(signContentUrl(secret, 'files', scope, { now: noon }));
      const lifetimeMs = signed.expiresAt.getTime() - now;
      expect(lifetimeMs).toBeGreaterThan(hourMs);
      expect(lifetimeMs).toBeLessThanOrEqual(1.5 * hourMs);
      const parts = partsOf(signed.url);
      expect(isContentUrl(secret, 'files', parts, signed.expiresAt.getTime() - 1)).toBe(true);
      expect(isContentUrl(secret, 'files', parts, signed.expiresAt.getTime())).toBe(false);
    }
    expect(partsOf(signContentUrl(secret, 'files', scope, { now: noon + hourMs / 2 }).url)).not.toEqual(
      valid,
    );
  });

  test('follow the public URL, and end with a slash', () => {
    const path = `/content/v1/${scope.lessonId}/${scope.versionId}/\\d+/[\\w-]{43}/`;
    expect(signContentUrl(secret, 'files', scope, { base, now: noon }).url).toMatch(
      new RegExp(`^${base}${path}$`),
    );
  });

  test.each([
    ['another lesson', { lessonId: scope.versionId }],
    ['another version', { versionId: scope.lessonId }],
    ['a later expiry', { expires: String(Number(valid.expires) + 3600) }],
    ['a padded expiry', { expires: `0${valid.expires}` }],
    ['no signature', { signature: '' }],
    ['half a signature', { signature: valid.signature.slice(0, 20) }],
    ['swapped ids', { lessonId: scope.versionId, versionId: scope.lessonId }],
  ])('are rejected with %s', (_what, changes) => {
    expect(isContentUrl(secret, 'files', valid, noon)).toBe(true);
    expect(isContentUrl(secret, 'files', { ...valid, ...changes }, noon)).toBe(false);
    expect(isContentUrl(`${secret}!`, 'files', valid, noon)).toBe(false);
  });

  test('for files, steps and previews do not open one another', () => {
    const urls = {
      files: signContentUrl(secret, 'files', scope, { now: noon }),
      chunks: signContentUrl(secret, 'chunks', scope, { now: noon }),
      preview: signPreviewUrl(secret, scope, noon / 1000 + 60),
    };
    for (const [kind, { url }] of Object.entries(urls)) {
      const opened = (['files', 'chunks', 'preview'] as const).filter((one) =>
        isContentUrl(secret, one, partsOf(url), noon),
      );
      expect(opened).toEqual([kind]);
    }
  });

  test.each(['files', 'chunks'] as const)('for %s expire at most 90 minutes after a revocation', (kind) => {
    for (let now = noon; now < noon + hourMs; now += hourMs / 7) {
      const { expiresAt } = signContentUrl(secret, kind, scope, { now });
      expect(expiresAt.getTime() - now).toBeLessThanOrEqual(1.5 * hourMs);
    }
  });

  test('are logged without their signature', () => {
    const { url } = signContentUrl(secret, 'files', scope, { now: noon });
    for (const path of [`${url}media/x`, url.slice(0, -1)]) {
      expect(redactContentSignature(path)).toBe(path.replace(valid.signature, '-'));
    }
    const plain = '/api/lessons/a/versions/b/export-zip';
    expect(redactContentSignature(plain)).toBe(plain);
  });
});
