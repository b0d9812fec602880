import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  signEmbedToken,
  signLaunchToken,
  signPreviewToken,
  verifyPlayerToken,
} from '../../shared/tokens/player-tokens.ts';
import { testSigningSecrets } from '../support/harness.ts';

const [first, second] = testSigningSecrets;
const [organizationId, lessonId, versionId] = ['the-organization', 'the-lesson', 'the-version'];
const embed = { organizationId, lessonId, versionId, learnerId: 'learner-1', userAttributes: '{"a":1}' };
const launch = {
  organizationId,
  lessonId,
  versionId: null,
  ltiUserId: 'u',
  platformId: 'p',
  contextId: null,
};
const now = () => Math.floor(Date.now() / 1000);

const signed = (overrides: Partial<typeof embed> = {}) =>
  signEmbedToken(testSigningSecrets, { ...embed, ...overrides }, 600).token;

const encoded = (json: unknown) =>
  Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)).toString('base64url');
const partOf = (token: string, part: 0 | 1): unknown =>
  JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString('utf8'));

const goodHeader = { alg: 'HS256', typ: 'JWT', kid: first.kid };
const goodClaims = () => ({
  lessonId,
  learnerId: 'learner-1',
  organizationId,
  userAttributes: {},
  iat: now(),
  exp: now() + 600,
  iss: 'lectern',
});
const launchClaims = () => {
  const { organizationId: organization, iat, exp, iss } = goodClaims();
  return { ...launch, versionId: undefined, organizationId: organization, iat, exp, iss };
};

/** A hand-made token, possibly invalid. Undefined members are omitted. */
function forge(
  claims: unknown,
  options: { header?: unknown; secret?: string; hash?: 'sha256' | 'sha512' } = {},
): string {
  const { header = {}, secret = first.secret, hash = 'sha256' } = options;
  const head = typeof header === 'object' ? { ...goodHeader, ...header } : header;
  const text = `${encoded(head)}.${encoded(claims)}`;
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

describe('an embed token', () => {
  test('has exactly the documented claims and signature header', () => {
    const token = signed();
    const claims = partOf(token, 1) as { iat: number; exp: number };
    expect(claims).toStrictEqual({
      lessonId,
      versionId,
      learnerId: 'learner-1',
      organizationId,
      userAttributes: { a: 1 },
      iat: expect.any(Number) as number,
      exp: claims.iat + 600,
      iss: 'lectern',
    });
    expect(Math.abs(claims.iat - now())).toBeLessThan(60);
    expect(Number.isInteger(claims.iat)).toBe(true);
    expect(partOf(token, 0)).toStrictEqual(goodHeader);
  });

  test('is signed with HMAC-SHA-256, as others compute it', () => {
    const token = signed();
    expect(forge(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).toBe(token);
  });

  test('verifies to the signed claims', () => {
    const { iat, exp } = partOf(signed(), 1) as { iat: number; exp: number };
    const read = verifyPlayerToken(testSigningSecrets, forge({ ...goodClaims(), versionId, iat, exp }));
    expect(read).toStrictEqual({
      ...embed,
      kind: 'embed',
      userAttributes: '{}',
      issuedAt: iat,
      expiresAt: exp,
    });
    const { token, expiresAt } = signEmbedToken(testSigningSecrets, { ...embed, versionId: null }, 600);
    expect(Object.keys(partOf(token, 1) as object)).not.toContain('versionId');
    expect((partOf(token, 1) as { exp: number }).exp * 1000).toBe(expiresAt.getTime());
    expect(verifyPlayerToken(testSigningSecrets, token)).toMatchObject({ ...embed, versionId: null });
  });

  test.each([
    ['names that look like numbers, in their order', '{"b":1,"10":2,"2":3,"a":4}'],
    ['numbers beyond the doubles', '{"id":12345678901234567890,"f":1.10,"e":1E+2,"z":-0}'],
    ['__proto__ and constructor', '{"__proto__":{"admin":true},"constructor":1}'],
    ['repeated names', '{"a":1,"a":2}'],
    ['halves of characters', '{"half":"\\ud83d"}'],
    ['deep nesting', `{"a":${'['.repeat(190)}${']'.repeat(190)}}`],
    ['claims of the token itself', '{"organizationId":"other","exp":0,"userAttributes":{}}'],
  ])('carries user attributes byte for byte: %s', (_what, userAttributes) => {
    const read = verifyPlayerToken(testSigningSecrets, signed({ userAttributes }));
    expect(read).toMatchObject({ ...embed, userAttributes });
  });
});

describe('a launch token', () => {
  test('has its own type, and verifies to the signed claims', () => {
    const { token } = signLaunchToken(testSigningSecrets, launch, 600);
    expect(partOf(token, 0)).toStrictEqual({ ...goodHeader, typ: 'lectern-launch+jwt' });
    const { iat, exp, ...claims } = partOf(token, 1) as { iat: number; exp: number };
    expect(claims).toStrictEqual({
      organizationId,
      lessonId,
      ltiUserId: 'u',
      platformId: 'p',
      contextId: null,
      iss: 'lectern',
    });
    const times = { issuedAt: iat, expiresAt: exp };
    expect(verifyPlayerToken(testSigningSecrets, token)).toStrictEqual({
      ...launch,
      kind: 'launch',
      ...times,
    });
  });
});

test('a preview token has its own type, names no learner, and expires in an hour', () => {
  const preview = { organizationId, lessonId, versionId };
  const { token, expiresAt } = signPreviewToken(testSigningSecrets, preview);
  expect(partOf(token, 0)).toStrictEqual({ ...goodHeader, typ: 'lectern-preview+jwt' });
  const { iat, exp, ...claims } = partOf(token, 1) as { iat: number; exp: number };
  expect(claims).toStrictEqual({ ...preview, iss: 'lectern' });
  expect([exp - iat, exp * 1000]).toEqual([3600, expiresAt.getTime()]);
  const times = { issuedAt: iat, expiresAt: exp };
  expect(verifyPlayerToken(testSigningSecrets, token)).toStrictEqual({
    kind: 'preview',
    ...preview,
    ...times,
  });
});

test('a token without a kid is verified with each secret', () => {
  for (const { secret } of testSigningSecrets) {
    const token = forge(goodClaims(), { header: { kid: undefined }, secret });
    expect(verifyPlayerToken(testSigningSecrets, token)).toMatchObject({ lessonId });
  }
});

test('the first secret signs, and tokens signed with older ones are valid as long as these are listed', () => {
  const old = signEmbedToken([second], embed, 600).token;
  expect(partOf(old, 0)).toMatchObject({ kid: second.kid });
  expect(partOf(signed(), 0)).toMatchObject({ kid: first.kid });
  expect(verifyPlayerToken(testSigningSecrets, old)).toMatchObject(embed);
  expect(() => verifyPlayerToken([first], old)).toThrow('Token verification failed: Invalid signature');
});

test('without a secret no token is signed or valid', () => {
  expect(() => signEmbedToken([], embed, 600)).toThrow(
    expect.objectContaining({ code: 'INTERNAL_ERROR' }) as Error,
  );
  expect(() => verifyPlayerToken([], signed())).toThrow(
    'Token verification failed: Signing secret not configured',
  );
});

const [good = '', goodPayload = '', goodSignature = ''] = signed().split('.');
const flipped = (part: string) => `${part.slice(0, 9)}${part.charAt(9) === 'A' ? 'B' : 'A'}${part.slice(10)}`;
const withMember = (member: object) => forge({ ...goodClaims(), ...member });

const withHeader = (header: object, options: Parameters<typeof forge>[1] = {}) =>
  forge(goodClaims(), { ...options, header });
const foreign = { secret: 'x'.repeat(32) };
const fullLength = { userAttributes: { a: 'a'.repeat(13_000) } };

test.each<[reason: string, what: string, token: () => string]>([
  ['Token expired', 'one that expires now', () => withMember({ exp: now() })],
  ['Invalid signature', 'another secret', () => forge(goodClaims(), foreign)],
  ['Invalid signature', 'another secret, and expired', () => forge({ ...goodClaims(), exp: 1 }, foreign)],
  ['Invalid signature', "the other kid's secret", () => withHeader({ kid: second.kid })],
  ['Invalid signature', 'an unknown kid', () => withHeader({ kid: 'unknown' })],
  [
    'Invalid signature',
    'alg none, without a signature',
    () => withHeader({ alg: 'none' }).replace(/[^.]*$/, ''),
  ],
  [
    'Invalid signature',
    'HS512 with the right secret',
    () => withHeader({ alg: 'HS512' }, { hash: 'sha512' }),
  ],
  [
    'Invalid signature',
    'other claims',
    () => `${good}.${encoded({ ...goodClaims(), learnerId: 'x' })}.${goodSignature}`,
  ],
  ['Invalid signature', 'a tampered signature', () => `${good}.${goodPayload}.${flipped(goodSignature)}`],
  ['Invalid issuer', 'another issuer', () => withMember({ iss: 'another' })],
  ['Token issued in the future', 'an iat after any revocation', () => withMember({ iat: now() + 90 })],
  [
    'Token valid for too long',
    'a day and a second',
    () => withMember({ iat: now() - 1, exp: now() + 86_400 }),
  ],
  [
    'Token valid for too long',
    'a launch token of a day and a second',
    () => forge({ ...launchClaims(), exp: now() + 86_401 }, { header: { typ: 'lectern-launch+jwt' } }),
  ],
  ['Malformed token', 'a later time of validity', () => withMember({ nbf: now() + 600 })],
  ['Malformed token', 'no type', () => withHeader({ typ: undefined })],
  ['Malformed token', 'another type', () => withHeader({ typ: 'at+jwt' })],
  [
    'Malformed token',
    'an embed token typed as a launch token',
    () => withHeader({ typ: 'lectern-launch+jwt' }),
  ],
  ['Malformed token', 'a launch token typed as an embed token', () => forge(launchClaims())],
  [
    'Malformed token',
    'a preview token typed as an embed token',
    () => withMember({ versionId, learnerId: undefined, userAttributes: undefined }),
  ],
  ['Malformed token', 'a preview token without a version', () => withHeader({ typ: 'lectern-preview+jwt' })],
  ['Malformed token', 'a payload that is not JSON', () => forge('no JSON')],
  ['Malformed token', 'a damaged payload', () => `${good}.${flipped(goodPayload)}.${goodSignature}`],
  ['Malformed token', 'a header that is not JSON', () => `bm8.${goodPayload}.${goodSignature}`],
  ['Malformed token', 'a fourth part', () => `${good}.${goodPayload}.${goodSignature}.x`],
  ['Malformed token', 'more than 16 KB', () => withMember(fullLength)],
])('%s: %s', (reason, _what, token) => {
  const message = `Token verification failed: ${reason}`;
  const error = expect.objectContaining({ code: 'UNAUTHORIZED', message }) as Error;
  expect(() => verifyPlayerToken(testSigningSecrets, token())).toThrow(error);
});

const wrongClaims = {
  lessonId: [undefined, 1, null],
  versionId: [1, null],
  learnerId: [undefined, 1, ['learner-1']],
  organizationId: [undefined, { $ne: '' }],
  userAttributes: [undefined, null, 'text', [1]],
  iat: [undefined, '1'],
  exp: [undefined, '9999999999', null],
};

test.each(
  Object.entries(wrongClaims).flatMap(([name, values]) =>
    values.map((value): [string, unknown] => [name, value]),
  ),
)('a valid signature over the claim %s as %j is a malformed token', (name, value) => {
  expect(() => verifyPlayerToken(testSigningSecrets, withMember({ [name]: value }))).toThrow(
    'Token verification failed: Malformed token',
  );
});
