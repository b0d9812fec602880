import { exportJWK, generateKeyPair, SignJWT, jwtVerify } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPlatformKeys, KeysUnavailable, UnknownKey } from '../../api/lti/platform-keys.ts';
import type { PlatformKeys } from '../../api/lti/platform-keys.ts';
import { verifyIdToken } from '../../api/lti/verify-token.ts';
import { createPlatformClient } from '../../shared/lti/platform-requests.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';
import { answer, file, redirectTo, reset, slowly, startOrigin } from '../support/origin.ts';
import type { Behavior, Origin } from '../support/origin.ts';

const minute = 60_000;
const hour = 60 * minute;

let origin: Origin;
let client: PlatformClient;
let keys: PlatformKeys;
let time: number;
let first: JWK;
let second: JWK;
let privateKey: CryptoKey;

beforeAll(async () => {
  const pair = await generateKeyPair('RS256', { extractable: true });
  ({ privateKey } = pair);
  first = { ...(await exportJWK(pair.publicKey)), kid: 'first', alg: 'RS256', use: 'sig' };
  // Some platforms send only the required headers.
  second = { ...(await exportJWK((await generateKeyPair('RS256')).publicKey)), kid: 'second' };
});
beforeEach(async () => {
  origin = await startOrigin();
  client = createPlatformClient({ allowedPrivateHosts: [origin.host] });
  time = 1_000_000;
  keys = createPlatformKeys(client, () => time);
});
afterEach(async () => {
  client.close();
  await origin.close();
});

const set = (...some: unknown[]): Behavior => file(JSON.stringify({ keys: some }));
const find = (kid: string, path = '/jwks') => keys.find(origin.url(path), kid);
const asked = () => origin.requests('/jwks');

describe("a platform's keys", () => {
  test('are fetched once for concurrent callers, and not again while they are fresh', async () => {
    origin.script('/jwks', slowly(JSON.stringify({ keys: [first] }), 2, 20));
    const found = await Promise.all(Array.from({ length: 20 }, () => find('first')));
    expect(new Set(found).size).toBe(1);
    time += 9 * minute;
    await find('first');
    expect(asked()).toBe(1);
    const token = await new SignJWT().setProtectedHeader({ alg: 'RS256', kid: 'first' }).sign(privateKey);
    await expect(jwtVerify(token, await find('first'), { algorithms: ['RS256'] })).resolves.toBeTruthy();
  });

  test('are refetched when a new key is used, once for all callers', async () => {
    origin.script('/jwks', set(first), set(first, second));
    await find('first');
    time += 10_000;
    await Promise.all(Array.from({ length: 10 }, () => find('second')));
    expect(asked()).toBe(2);
  });

  test('are used for at most ten minutes after they are withdrawn', async () => {
    origin.script('/jwks', set(first, second), set(second));
    await find('first');
    time += 10 * minute;
    await expect(find('first')).rejects.toBeInstanceOf(UnknownKey);
  });

  test('are requested at most every ten seconds, however many unknown keys are named', async () => {
    origin.script('/jwks', set(first));
    for (let n = 0; n < 100; n++) {
      await expect(find(`made up ${n}`)).rejects.toBeInstanceOf(UnknownKey);
      time += 1_000;
    }
    expect(asked()).toBe(10);
    await find('first');
  });

  test('are requested again when a key is replaced under its id, at most every ten seconds', async () => {
    const replaced = { ...second, kid: 'first' };
    origin.script('/jwks', set(replaced), set(first), answer(500));
    const token = await new SignJWT({ nonce: 'n' })
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .setIssuer('https://lms.example')
      .setAudience('client')
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey);
    const verify = (text = token) =>
      verifyIdToken(text, {
        ...{ issuer: 'https://lms.example', clientId: 'client', nonce: 'n' },
        findKey: (kid, failed) => keys.find(origin.url('/jwks'), kid, failed),
      });
    const forged = `${token.slice(0, -10)}AAAAAAAAAA`;
    await expect(verify()).rejects.toMatchObject({ fault: 'bad_signature' });
    expect(asked()).toBe(1);
    time += 10_000;
    await Promise.all([verify(), verify(), verify()]);
    expect(asked()).toBe(2);
    for (let n = 0; n < 150; n += 1) {
      await expect(verify(forged)).rejects.toMatchObject({ fault: 'bad_signature' });
      time += 100;
    }
    expect(asked()).toBe(3);
    await verify();
  });

  test('do not verify tokens of another platform', async () => {
    origin.script('/jwks', set(first));
    origin.script('/other', set(second));
    await find('first');
    await expect(find('first', '/other')).rejects.toBeInstanceOf(UnknownKey);
  });
});

const failures: [string, () => Behavior][] = [
  ['closes the connection', () => reset()],
  ['returns 404', () => answer(404)],
  ['redirects', () => redirectTo(origin.url('/elsewhere'))],
  ['sends a page', () => answer(200, {}, '<html>')],
  ['sends no key set', () => answer(200, {}, '[{"kid":"first"}]')],
];

test.each(failures)('a platform that %s has no keys, and is asked again 10 s later', async (_, behavior) => {
  origin.script('/jwks', behavior(), set(first));
  origin.script('/elsewhere', set(first));
  await expect(Promise.all([find('first'), find('first')])).rejects.toBeInstanceOf(KeysUnavailable);
  time += 9_000;
  await expect(find('first')).rejects.toBeInstanceOf(KeysUnavailable);
  expect(asked()).toBe(1);
  time += 1_000;
  await find('first');
  expect(origin.requests('/elsewhere')).toBe(0);
});

test('cached keys stay valid for a day while the platform fails', async () => {
  origin.script('/jwks', set(first), answer(500));
  const cached = await find('first');
  time += 10 * minute;
  expect(await find('first')).toBe(cached);
  await expect(find('second')).rejects.toBeInstanceOf(KeysUnavailable);
  time += 23 * hour;
  expect(await find('first')).toBe(cached);
  time += hour;
  await expect(find('first')).rejects.toBeInstanceOf(KeysUnavailable);
});

test('an outage causes one request a minute while cached keys are usable', async () => {
  origin.script('/jwks', set(first), answer(503));
  await find('first');
  time += 10 * minute;
  const before = asked();
  for (let n = 0; n < 60; n++, time += 1_000) await find('first');
  expect(asked() - before).toBe(1);
});

test.each<[string, (jwk: JWK) => JWK | Promise<JWK>]>([
  ['for encryption', (jwk) => ({ ...jwk, use: 'enc' })],
  ['for another algorithm', (jwk) => ({ ...jwk, alg: 'RS512' })],
  ['that is symmetric', () => ({ kty: 'oct', k: 'c2VjcmV0', alg: 'RS256' })],
  [
    'of another kind',
    async () => exportJWK((await generateKeyPair('ES256', { extractable: true })).publicKey),
  ],
  ['of less than 2048 bits', (jwk) => ({ ...jwk, n: Buffer.alloc(128, 0xff).toString('base64url') })],
  ['that is garbage', (jwk) => ({ ...jwk, e: '' })],
])('a key %s is ignored, and the other keys in the set work', async (_what, spoil) => {
  origin.script('/jwks', set({ ...(await spoil(first)), kid: 'bad' }, null, 7, second));
  await expect(find('bad')).rejects.toBeInstanceOf(UnknownKey);
  await find('second');
});
