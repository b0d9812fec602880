import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Redis } from 'ioredis';
import { disableUser, setPassword } from '../../shared/models/user.ts';
import { hashPassword } from '../../shared/platform/passwords.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, challengeOf, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { startApiProcess } from '../support/api-process.ts';
import { buildUser, cookieOf, logIn, openSession, postSession, quickHash, testPassword } from './users.ts';

let harness: Harness;
let address: string;
let redis: Redis;

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  redis = new Redis(harness.servers.redisUrl);
});
afterAll(async () => {
  redis.disconnect();
  await harness.close();
});

const getSession = (headers: Record<string, string> = {}, of = address) =>
  ask(`${of}/api/session`, { headers });
const logOut = (headers: Record<string, string> = {}, of = address) =>
  ask(`${of}/api/session`, { method: 'DELETE', headers });
const sessionKeys = () => redis.keys(`${harness.config.redisPrefix}:session:*`);

function expectUnauthorized(answer: Answer): void {
  expect({ status: answer.status, body: jsonOf(answer) }).toStrictEqual({
    status: 401,
    body: { error: 'Authentication failed' },
  });
  expect(challengeOf(answer)).toBe('Bearer realm="Lectern"');
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

describe('a login', () => {
  test('returns the user, the organization and the expiry, and so do requests with the cookie', async () => {
    const { user, organization } = await buildUser(harness, { role: 'admin' });
    const answer = await logIn(address, user);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const body = jsonOf(answer) as { expiresAt: string };
    const { slug, name, plan } = organization;
    expect(body).toStrictEqual({
      user: { id: user._id, email: user.email, role: 'admin' },
      organization: { id: organization._id, slug, name, plan },
      expiresAt: expect.any(String) as string,
    });
    const hoursLeft = (Date.parse(body.expiresAt) - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(11.9);
    expect(hoursLeft).toBeLessThanOrEqual(12);

    const again = await getSession({ cookie: cookieOf(answer) });
    expect(jsonOf(again)).toStrictEqual(body);
    expect(again.headers.getSetCookie()).toStrictEqual([]);
  });

  test('accepts the email address in any case, and the password in any Unicode form', async () => {
    const passwordHash = await hashPassword('Ümläute sind schön');
    const { user } = await buildUser(harness, { passwordHash });
    const body = { email: `  ${user.email.toUpperCase()} `, password: 'Ümläute sind schön'.normalize('NFD') };
    expect((await postSession(address, body)).status).toBe(200);
  });

  test('that fails gets the same 401 for every reason', async () => {
    const { user } = await buildUser(harness);
    const { user: disabled } = await buildUser(harness);
    await disableUser(harness.db, disabled.email);
    const { user: left, organization: gone } = await buildUser(harness);
    await harness.db.organizations.deleteOne({ _id: gone._id });
    const wrong = [
      { email: user.email, password: 'another password' },
      { email: 'nobody@example.com', password: testPassword },
      { email: 'no address', password: testPassword },
      { email: disabled.email, password: testPassword },
      { email: left.email, password: testPassword },
      { email: `${user.email}\u0000`, password: testPassword },
      { email: user.email, password: `${testPassword}\u0000` },
      { email: '\ud800@example.com', password: testPassword },
      { email: user.email, password: `${testPassword}\ud800` },
      { email: user.email, password: 'x'.repeat(5_000) },
    ];
    for (const body of wrong) {
      const answer = await postSession(address, body);
      expect({ body, status: answer.status, answer: jsonOf(answer) }).toStrictEqual({
        body,
        status: 401,
        answer: { error: 'Email or password is wrong' },
      });
      expect(answer.headers.getSetCookie()).toStrictEqual([]);
    }
  });

  test.each<[string, unknown, string]>([
    ['no JSON', '{', 'Request body must be valid JSON'],
    ['a list', [], 'Request body must be an object with email and password'],
    ['null', null, 'Request body must be an object with email and password'],
    ['no email', { password: 'x' }, 'email is required'],
    ['an empty email', { email: '', password: 'x' }, 'email is required'],
    ['no password', { email: 'a@example.com' }, 'password is required'],
    ['a query operator as the email', { email: { $ne: null }, password: 'x' }, 'email must be a string'],
    [
      'a query operator as the password',
      { email: 'a@example.com', password: { $ne: null } },
      'password must be a string',
    ],
    ['a list as the email', { email: ['a@example.com'], password: 'x' }, 'email must be a string'],
    [
      'more',
      { email: 'a@example.com', password: 'x', admin: true },
      'Request body must be an object with email and password',
    ],
  ])('with %s gets 422 with the reason', async (_what, body, error) => {
    const answer = await postSession(address, body);
    expect({ status: answer.status, body: jsonOf(answer) }).toStrictEqual({ status: 422, body: { error } });
  });

  test('over 8 KiB gets 413, and a form gets 422', async () => {
    const large = await postSession(address, { email: 'a@example.com', password: 'x'.repeat(8192) });
    expect(large.status).toBe(413);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await postSession(address, 'email=a%40example.com&password=x', form)).status).toBe(422);
    expect(
      (await postSession(address, { email: 'a@a.de', password: 'x' }, { 'content-type': 'text/plain' }))
        .status,
    ).toBe(422);
  });

  test('with an outdated hash stores a new one, and sessions continue', async () => {
    const { user } = await buildUser(harness, { passwordHash: quickHash });
    const { cookie } = await openSession(address, user);
    const stored = await harness.db.users.findById(user._id).lean();
    expect(stored?.passwordHash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    expect((await getSession({ cookie })).status).toBe(200);
    expect((await logIn(address, user)).status).toBe(200);
  });
});

describe('a session', () => {
  test.each<[string, string]>([
    ['no cookie', ''],
    ['a cookie without its signature', 'lectern=abc'],
    ['a cookie with another signature', 'lectern=abc; lectern.sig=abc'],
  ])('is rejected with %s: 401', async (_what, cookie) => {
    expectUnauthorized(await getSession(cookie === '' ? {} : { cookie }));
  });

  test('is rejected with the signature of another cookie', async () => {
    const { user } = await buildUser(harness);
    const [first = '', second = ''] = [
      await openSession(address, user),
      await openSession(address, user),
    ].map(({ cookie }) => cookie);
    const mixed = `${first.split('; ')[0]}; ${second.split('; ')[1]}`;
    expectUnauthorized(await getSession({ cookie: mixed }));
  });

  test('gets a new id at each login, whatever cookie came with it, and the former session ends', async () => {
    const { user: attacker } = await buildUser(harness);
    const { user } = await buildUser(harness);
    const planted = await openSession(address, attacker);
    const answer = await logIn(address, user, planted);
    const own = { cookie: cookieOf(answer) };
    expect(own.cookie).not.toBe(planted.cookie);
    expectUnauthorized(await getSession(planted));
    expect(jsonOf(await getSession(own))).toMatchObject({ user: { id: user._id } });
  });

  test('is stored in Redis under a digest until its expiry, without the password', async () => {
    const { user } = await buildUser(harness);
    const before = await sessionKeys();
    const { cookie } = await openSession(address, user);
    const [key = '', ...others] = (await sessionKeys()).filter((one) => !before.includes(one));
    expect(others).toStrictEqual([]);
    const id = /^lectern=([^;]+)/.exec(cookie)?.[1] ?? '';
    expect(id).toMatch(/^[\w-]{43}$/);
    expect(key).not.toContain(id);
    expect(key).toMatch(/:session:[0-9a-f]{64}$/);
    const value = (await redis.get(key)) ?? '';
    expect(Object.keys(JSON.parse(value) as object).sort()).toStrictEqual([
      'expiresAt',
      'passwordChangedAt',
      'userId',
    ]);
    const seconds = await redis.ttl(key);
    expect(seconds).toBeGreaterThan(11 * 3600);
    expect(seconds).toBeLessThanOrEqual(12 * 3600);
    await getSession({ cookie });
    expect(await redis.get(key)).toBe(value);
  });

  test('ends when Redis loses it', async () => {
    const { user } = await buildUser(harness);
    const before = await sessionKeys();
    const session = await openSession(address, user);
    await redis.del(...(await sessionKeys()).filter((key) => !before.includes(key)));
    expectUnauthorized(await getSession(session));
  });

  test('ends with the logout, at once in every process, and other sessions continue', async () => {
    const other = await startApiProcess(harness);
    try {
      const { user } = await buildUser(harness);
      const session = await openSession(address, user);
      const elsewhere = await openSession(other.url, user);
      expect((await getSession(session, other.url)).status).toBe(200);
      expect((await getSession(elsewhere)).status).toBe(200);

      const out = await logOut(session, other.url);
      expect({ status: out.status, body: out.body.toString() }).toStrictEqual({ status: 204, body: '' });
      expect(out.headers.get('cache-control')).toBe('no-store');
      for (const cookie of out.headers.getSetCookie()) expect(cookie).toContain('expires=Thu, 01 Jan 1970');
      expectUnauthorized(await getSession(session));
      expectUnauthorized(await getSession(session, other.url));
      expect((await getSession(elsewhere)).status).toBe(200);
    } finally {
      await other.end();
    }
  });

  test('that does not exist can be logged out as well', async () => {
    expect((await logOut()).status).toBe(204);
    expect((await logOut({ cookie: 'lectern=abc; lectern.sig=abc' })).status).toBe(204);
  });

  test('ends when the password is changed, the user disabled, or the organization deleted', async () => {
    const { user, organization } = await buildUser(harness);
    const sessions = [await openSession(address, user), await openSession(address, user)];
    await setPassword(harness.db, user.email, user.passwordHash);
    for (const session of sessions) expectUnauthorized(await getSession(session));

    const { user: second } = await buildUser(harness, { organization });
    const third = await openSession(address, (await buildUser(harness, { organization })).user);
    const session = await openSession(address, second);
    await disableUser(harness.db, second.email);
    expectUnauthorized(await getSession(session));
    expect((await getSession(third)).status).toBe(200);
    await harness.db.organizations.deleteOne({ _id: organization._id });
    expectUnauthorized(await getSession(third));
  });

  test('shows the current plan and role', async () => {
    const { user, organization } = await buildUser(harness);
    const session = await openSession(address, user);
    await harness.db.organizations.updateOne({ _id: organization._id }, { plan: 'solo' });
    await harness.db.users.updateOne({ _id: user._id }, { role: 'admin' });
    expect(jsonOf(await getSession(session))).toMatchObject({
      user: { role: 'admin' },
      organization: { plan: 'solo' },
    });
  });
});

test('other methods get 405 with the allowed methods', async () => {
  const answer = await ask(`${address}/api/session`, { method: 'PUT' });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, DELETE');
});
