import { describe, expect, test } from 'vitest';
import {
  generateCredentials,
  hashSecretKey,
  parseBearer,
  secretKeyMatches,
} from '../../shared/accounts/credentials.ts';

const publicKey = `lkp_${'A'.repeat(24)}`;
const secretKey = `lks_${'z'.repeat(43)}`;

describe('generated credentials', () => {
  test('have the documented form, which the header accepts', () => {
    const credentials = generateCredentials();
    expect(credentials.publicKey).toMatch(/^lkp_[0-9A-Za-z]{24}$/);
    expect(credentials.secretKey).toMatch(/^lks_[0-9A-Za-z]{43}$/);
    expect(parseBearer(`Bearer ${credentials.publicKey}.${credentials.secretKey}`)).toStrictEqual(
      credentials,
    );
  });
});

describe('the Authorization header', () => {
  test.each(['Bearer ', 'bearer  '])('is accepted with the scheme "%s"', (scheme) => {
    expect(parseBearer(`${scheme}${publicKey}.${secretKey}`)).toStrictEqual({ publicKey, secretKey });
  });

  test.each([
    ['nothing', undefined],
    ['the scheme alone', 'Bearer '],
    ['another scheme', `Basic ${publicKey}.${secretKey}`],
    ['a public key alone', `Bearer ${publicKey}`],
    ['both in the wrong order', `Bearer ${secretKey}.${publicKey}`],
    ['two credentials', `Bearer ${publicKey}.${secretKey}, Bearer ${publicKey}.${secretKey}`],
    ['a trailing line break', `Bearer ${publicKey}.${secretKey}\n`],
    ['a short public key', `Bearer ${publicKey.slice(0, -1)}.${secretKey}`],
    ['a long secret', `Bearer ${publicKey}.${secretKey}z`],
    ['a letter that only resembles one', `Bearer ${publicKey}.${secretKey.slice(0, -1)}а`],
    ['a very long text', `Bearer ${'a.'.repeat(50_000)}`],
  ])('%s contains no credentials', (_, header) => {
    expect(parseBearer(header)).toBeNull();
  });
});

describe('a secret', () => {
  const pepper = 'one pepper';
  const stored = hashSecretKey(secretKey, pepper);

  test('is not stored itself', () => {
    expect(stored).toMatch(/^[0-9a-f]{64}$/);
    expect(stored).not.toContain(secretKey);
  });

  test.each([
    ['the right secret', secretKey, stored, pepper, true],
    ['another secret', `${secretKey.slice(0, -1)}y`, stored, pepper, false],
    ['the right secret under another pepper', secretKey, stored, 'another pepper', false],
    ['any secret of an unknown key', secretKey, null, pepper, false],
    ['the stored value itself', stored, stored, pepper, false],
  ])('%s: matches or not', (_, given, hash, used, matches) => {
    expect(secretKeyMatches(given, hash === null ? null : { secretHash: hash }, used)).toBe(matches);
  });

  test('the secret of an unknown key is hashed like that of a known one', () => {
    const measure = (hash: string | null) => {
      const started = performance.now();
      for (let round = 0; round < 2_000; round += 1)
        secretKeyMatches(secretKey, hash === null ? null : { secretHash: hash }, pepper);
      return performance.now() - started;
    };
    const [known, unknown] = [stored, null].map((hash) => Math.min(...[1, 2, 3].map(() => measure(hash))));
    // Without the hash, a round would take less than a hundredth of the time.
    expect(unknown).toBeGreaterThan((known ?? 0) / 20);
  });
});
