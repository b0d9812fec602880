import { describe, expect, test } from 'vitest';
import { keyScopeNames } from '../../shared/accounts/permissions.ts';
import { changeUser, setPassword } from '../../shared/models/user.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import { ask, challengeOf, expectError, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { useApi, useStarted } from '../support/use.ts';
import { buildUser, cookieOf, logIn, openSession, postSession, quickHash, testPassword } from './users.ts';

// Each log-in computes a hash.
const api = useApi();
const redis = useStarted(
  () => connectRedis(api.servers.redisUrl),
  (one) => Promise.resolve(one.disconnect()),
);

const getSession = (headers: Record<string, string> = {}, url = api.url) =>
  ask(`${url}/api/session`, { headers });
const logOut = (headers: Record<string, string> = {}, url = api.url) =>
  ask(`${url}/api/session`, { method: 'DELETE', headers });
const sessionKeys = () => redis.keys(`${api.config.redisPrefix}:session:*`);

function expectUnauthorized(answer: Answer): void {
  expectError(answer, 401, 'Authentication failed');
  expect(challengeOf(answer)).toBe('Bearer realm="Lectern"');
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

describe('a login', () => {
  test('returns the user, the organization and the expiry; requests with the cookie return the current ones', async () => {
    const { user, organization } = await buildUser(api, { role: 'admin' });
    const answer = await logIn(api.url, { email: `  ${user.email.toUpperCase()} ` });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const body = jsonOf(answer) as { expiresAt: string };
    const { slug, name, plan } = organization;
    expect(body).toStrictEqual({
      user: { id: user._id, email: user.email, role: 'admin' },
      organization: { id: organization._id, slug, name, plan },
      permissions: [...keyScopeNames],
      twoStep: 'off',
      expiresAt: expect.any(String) as string,
    });
    const hoursLeft = (Date.parse(body.expiresAt) - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(11.9);
    expect(hoursLeft).toBeLessThanOrEqual(12);

    const again = await getSession({ cookie: cookieOf(answer) });
    expect(jsonOf(again)).toStrictEqual(body);
    expect(again.headers.getSetCookie()).toStrictEqual([]);
    await api.db.organizations.updateOne({ _id: organization._id }, { plan: 'solo' });
    await api.db.users.updateOne({ _id: user._id }, { role: 'author' });
    expect(jsonOf(await getSession({ cookie: cookieOf(answer) }))).toMatchObject({
      user: { role: 'author' },
      organization: { plan: 'solo' },
      permissions: ['read', 'content'],
    });
  });

  test('of an operator returns no organization', async () => {
    const { user } = await buildUser(api, { role: 'operator' });
    expect(jsonOf(await logIn(api.url, user))).toMatchObject({
      user: { id: user._id, role: 'operator' },
      organization: null,
      permissions: ['operator'],
    });
  });

  test('that fails gets the same 401 for every reason', async () => {
    const { user } = await buildUser(api);
    const { user: disabled } = await buildUser(api);
    await changeUser(api.db, { email: disabled.email }, { isDisabled: true });
    const { user: left, organization: gone } = await buildUser(api);
    await api.db.organizations.deleteOne({ _id: gone._id });
    const wrong = [
      { email: user.email, password: 'another password' },
      { email: 'unknown@example.com', password: testPassword },
      { email: disabled.email, password: testPassword },
      { email: left.email, password: testPassword },
      { email: `${user.email}\u0000`, password: testPassword },
    ];
    for (const body of wrong) {
      const answer = await postSession(api.url, body);
      expectError(answer, 401, 'Email or password is wrong');
      expect(answer.headers.getSetCookie()).toStrictEqual([]);
    }
  });

  test.each<[string, unknown, string]>([
    ['no JSON', '{', 'Request body must be valid JSON'],
    ['a list', [], 'Request body must be an object with email and password'],
    ['no email', { password: 'x' }, 'email is required'],
    ['no password', { email: 'a@example.com', password: '' }, 'password is required'],
    ['a query operator as the email', { email: { $ne: null }, password: 'x' }, 'email must be a string'],
    ['a list as the password', { email: 'a@example.com', password: ['x'] }, 'password must be a string'],
    [
      'more',
      { email: 'a', password: 'x', admin: true },
      'Request body must be an object with email and password',
    ],
  ])('with %s gets 422 with the reason', async (_what, body, error) => {
    expectError(await postSession(api.url, body), 422, error);
  });

  test('over 8 KiB gets 413, and a form gets 422', async () => {
    const large = await postSession(api.url, { email: 'a@example.com', password: 'x'.repeat(8192) });
    expect(large.status).toBe(413);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await postSession(api.url, 'email=a%40example.com&password=x', form)).status).toBe(422);
  });

  test('with an outdated hash stores a new one, and sessions continue', async () => {
    const { user } = await buildUser(api, { passwordHash: quickHash });
    const { cookie } = await openSession(api.url, user);
    const stored = await api.db.users.findById(user._id).lean();
    expect(stored?.passwordHash).toMatch(/^\$scrypt\$ln=11,r=8,p=1\$/);
    expect((await getSession({ cookie })).status).toBe(200);
    expect((await logIn(api.url, user)).status).toBe(200);
  });
});

describe('a session', () => {
  test('is rejected without a cookie, or with another signature than its own', async () => {
    const { user } = await buildUser(api);
    const [one = '', two = ''] = [await openSession(api.url, user), await openSession(api.url, user)].map(
      ({ cookie }) => cookie,
    );
    const mixed = `${one.split('; ')[0]}; ${two.split('; ')[1]}`;
    expectUnauthorized(await getSession());
    for (const cookie of ['lectern=abc', 'lectern=abc; lectern.sig=abc', mixed]) {
      expectUnauthorized(await getSession({ cookie }));
    }
  });

  test('gets a new id at each login, whatever cookie came with it, and the former session ends', async () => {
    const { user: attacker } = await buildUser(api);
    const { user } = await buildUser(api);
    const planted = await openSession(api.url, attacker);
    const answer = await logIn(api.url, user, planted);
    const own = { cookie: cookieOf(answer) };
    expect(own.cookie).not.toBe(planted.cookie);
    expectUnauthorized(await getSession(planted));
    expect(jsonOf(await getSession(own))).toMatchObject({ user: { id: user._id } });
  });

  test('is stored in Redis under a digest until its expiry, without the password, and ends when Redis loses it', async () => {
    const { user } = await buildUser(api);
    const before = await sessionKeys();
    const { cookie } = await openSession(api.url, user);
    const [key = '', ...others] = (await sessionKeys()).filter((one) => !before.includes(one));
    expect(others).toStrictEqual([]);
    const id = /^lectern=([^;]+)/.exec(cookie)?.[1] ?? '';
    expect(id).toMatch(/^[\w-]{43}$/);
    expect(key).not.toContain(id);
    expect(key).toMatch(/:session:[0-9a-f]{64}$/);
    const value = (await redis.get(key)) ?? '';
    expect(Object.keys(JSON.parse(value) as object).sort()).toStrictEqual([
      'expiresAt',
      'sessionsEndedAt',
      'userId',
    ]);
    const seconds = await redis.ttl(key);
    expect(seconds).toBeGreaterThan(11 * 3600);
    expect(seconds).toBeLessThanOrEqual(12 * 3600);
    await getSession({ cookie });
    expect(await redis.get(key)).toBe(value);
    await redis.del(key);
    expectUnauthorized(await getSession({ cookie }));
  });

  test('ends with the log-out, at once in every API, and other sessions continue', async () => {
    const other = await api.startApi();
    const { user } = await buildUser(api);
    const session = await openSession(api.url, user);
    const elsewhere = await openSession(other, user);
    expect((await getSession(session, other)).status).toBe(200);
    expect((await getSession(elsewhere)).status).toBe(200);

    const out = await logOut(session, other);
    expect({ status: out.status, body: out.body.toString() }).toStrictEqual({ status: 204, body: '' });
    expect(out.headers.get('cache-control')).toBe('no-store');
    for (const cookie of out.headers.getSetCookie()) expect(cookie).toContain('expires=Thu, 01 Jan 1970');
    expectUnauthorized(await getSession(session));
    expectUnauthorized(await getSession(session, other));
    expect((await getSession(elsewhere)).status).toBe(200);
  });

  test('that does not exist can be logged out as well', async () => {
    expect((await logOut()).status).toBe(204);
    expect((await logOut({ cookie: 'lectern=abc; lectern.sig=abc' })).status).toBe(204);
  });

  test('ends when the password is changed, the user disabled, or the organization deleted', async () => {
    const { user, organization } = await buildUser(api);
    const first = await openSession(api.url, user);
    await setPassword(api.db, { _id: user._id }, quickHash);
    expectUnauthorized(await getSession(first));

    const { user: second } = await buildUser(api, { organization });
    const third = await openSession(api.url, (await buildUser(api, { organization })).user);
    const session = await openSession(api.url, second);
    await changeUser(api.db, { email: second.email }, { isDisabled: true });
    expectUnauthorized(await getSession(session));
    expect((await getSession(third)).status).toBe(200);
    await api.db.organizations.deleteOne({ _id: organization._id });
    expectUnauthorized(await getSession(third));
  });
});
