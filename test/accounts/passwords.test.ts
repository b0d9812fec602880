import { describe, expect, test } from 'vitest';
import {
  assertValidPassword,
  hashPassword,
  isOutdated,
  passwordMatches,
} from '../../shared/platform/passwords.ts';

describe('a new password', () => {
  test.each<[string, string]>([
    ['has 10 characters', 'blau-turm7'],
    ['has 200 characters of two code units', '🔑'.repeat(200)],
    ['has spaces and any script', 'пароль 密码 كلمة'],
  ])('is accepted when it %s', (_what, password) => {
    expect(() => assertValidPassword(password)).not.toThrow();
  });

  test.each<[string, string]>([
    ['is empty', ''],
    ['has 9 characters of two code units', '🔑'.repeat(9)],
    ['has 201 characters', 'x'.repeat(201)],
    ['has 10 characters before normalization', 'e\u0301'.repeat(5)],
    ['has a line break', 'abcdefghij\nk'],
    ['has a NUL', 'abcdefghij\u0000'],
    ['has half a surrogate pair', 'abcdefghij\ud83d'],
  ])('is rejected when it %s', (_what, password) => {
    expect(() => assertValidPassword(password)).toThrow(
      'A password has 10 to 200 characters, and no control characters.',
    );
  });
});

test.each(['1234567890', 'password123', 'PassWord123', 'basketball', '\u{FF11}234567890'])(
  'the frequent password %j is rejected',
  (password) => {
    expect(() => assertValidPassword(password)).toThrow('among the most frequent ones in data breaches');
  },
);

test('a hash contains its parameters, is never the same twice, and reveals nothing of the password', async () => {
  const [first, second] = [await hashPassword('a password'), await hashPassword('a password')];
  for (const hash of [first, second]) {
    // The tests' parameters; test/cli/users.test.ts has those of installations.
    expect(hash).toMatch(/^\$scrypt\$ln=11,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(isOutdated(hash)).toBe(false);
  }
  expect(first.split('$')[3]).not.toBe(second.split('$')[3]);
});

test('a password matches only its own hash, in any Unicode form', async () => {
  const hash = await hashPassword('Zürich ﬁnden');
  expect(await passwordMatches('Zu\u0308rich finden', hash)).toBe(true);
  for (const other of ['zürich finden', '']) expect(await passwordMatches(other, hash)).toBe(false);
});

test('a hash with other parameters, made by other software, is verified and reported as outdated', async () => {
  // Python: hashlib.scrypt(b'correct horse battery', salt=bytes(16), n=2**10, r=8, p=1, dklen=32)
  const older = '$scrypt$ln=10,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AsWvwMY/76m6UtetkFvlJIEPTCAm8Pu2vkYrRktx10s';
  expect(await passwordMatches('correct horse battery', older)).toBe(true);
  expect(await passwordMatches('correct horse batterx', older)).toBe(false);
  expect(isOutdated(older)).toBe(true);
});

test.each(['', 'plain text', '$scrypt$ln=15,r=8,p=3$AAAA', '$argon2id$v=19$m=1,t=1,p=1$AAAA$AAAA'])(
  'a damaged hash (%j) is an error, never a match',
  async (stored) => {
    await expect(passwordMatches('a password', stored)).rejects.toThrow('damaged');
  },
);

test('with many concurrent checks some wait, and the rest get a retry error', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, () =>
      passwordMatches('a password', '$scrypt$ln=10,r=8,p=1$AAAA$' + 'A'.repeat(43)),
    ),
  );
  const refused = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  // Two run, and twenty wait.
  expect(results.length - refused.length).toBe(22);
  for (const reason of refused) {
    expect(reason).toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 10 });
  }
  expect(await passwordMatches('a password', null)).toBe(false);
});
