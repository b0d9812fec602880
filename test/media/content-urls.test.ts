import { describe, expect, test } from 'vitest';
import { isContentUrl, signContentUrl, redactContentSignature } from '../../shared/media/content-urls.ts';

const secret = 'an asset secret for tests that is long enough';
const of = {
  lessonId: 'b2c31cf9-50e1-41e9-8a87-a67383019488',
  versionId: 'c8f0a5d2-6a3e-4b57-9d0a-3f1f6f2b7a10',
};
const hour = 3_600_000;
const noon = Date.parse('2026-11-21T12:00:00Z');

/** The parts of an address, as a router takes it apart. */
function partsOf(url: string) {
  const [, , , lessonId = '', versionId = '', expires = '', signature = ''] = url.split('/');
  return { lessonId, versionId, expires, signature };
}

test('an address serves for an hour at least and 90 minutes at most, and is the same for half an hour', () => {
  for (const now of [noon, noon + 1, noon + hour / 4, noon + hour / 2 - 1]) {
    const signed = signContentUrl(secret, of, { now });
    expect(signed).toEqual(signContentUrl(secret, of, { now: noon }));
    const left = signed.expiresAt.getTime() - now;
    expect(left).toBeGreaterThan(hour);
    expect(left).toBeLessThanOrEqual(1.5 * hour);
    const parts = partsOf(signed.url);
    expect(isContentUrl(secret, parts, signed.expiresAt.getTime() - 1)).toBe(true);
    expect(isContentUrl(secret, parts, signed.expiresAt.getTime())).toBe(false);
  }
  expect(signContentUrl(secret, of, { now: noon + hour / 2 })).not.toEqual(
    signContentUrl(secret, of, { now: noon }),
  );
});

test('it stands behind the public address and ends with a slash', () => {
  const { url } = signContentUrl(secret, of, { base: 'https://lessons.example/lectern', now: noon });
  const path = `/content/v1/${of.lessonId}/${of.versionId}/\\d+/[\\w-]{43}/`;
  expect(url).toMatch(new RegExp(`^https://lessons\\.example/lectern${path}$`));
});

describe('is refused', () => {
  const good = partsOf(signContentUrl(secret, of, { now: noon }).url);
  test.each([
    ['another lesson', { lessonId: of.versionId }],
    ['another version', { versionId: of.lessonId }],
    ['the lesson in capitals', { lessonId: of.lessonId.toUpperCase() }],
    ['a later end', { expires: String(Number(good.expires) + 3600) }],
    ['the end written otherwise', { expires: `0${good.expires}` }],
    ['an end that is no number', { expires: 'never' }],
    ['no signature', { signature: '' }],
    ['half a signature', { signature: good.signature.slice(0, 20) }],
    ['another signature', { signature: 'A'.repeat(43) }],
    ['lesson and version taken for each other', { lessonId: of.versionId, versionId: of.lessonId }],
  ])('%s', (_what, changes) => {
    expect(isContentUrl(secret, good, noon)).toBe(true);
    expect(isContentUrl(secret, { ...good, ...changes }, noon)).toBe(false);
  });

  test('what another secret has signed', () => {
    expect(isContentUrl(`${secret}!`, good, noon)).toBe(false);
  });
});

test('a path in a log has no signature', () => {
  const { url } = signContentUrl(secret, of, { now: noon });
  const { signature } = partsOf(url);
  const logged = redactContentSignature(`${url}media/x`);
  expect(logged).toBe(`${url}media/x`.replace(signature, '-'));
  expect(redactContentSignature(`/content/v1/a/b/c/${signature}`)).toBe('/content/v1/a/b/c/-');
  expect(redactContentSignature('/api/lessons/a/versions/b/export-zip')).toBe(
    '/api/lessons/a/versions/b/export-zip',
  );
});
