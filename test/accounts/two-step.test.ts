import { Secret, TOTP } from 'otpauth';
import { describe, expect, test } from 'vitest';
import type { Role } from '../../shared/accounts/permissions.ts';
import { readAudit } from '../../shared/models/audit-entry.ts';
import { ask, expectError, jsonOf, senderOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { beginSession, buildUser, cookieOf, postSession, testPassword } from './users.ts';

const api = useApi({ LOGIN_TRIES: '1000' });

const send = senderOf(api);

/** Returns the code of a secret, some periods from now. */
const codeOf = (secret: string, periods = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + periods * 30_000 });

const wrongCode = 'The code is wrong, or was used before';
const path = '/api/session/two-step';

/** Returns a user with two-step login. Codes of the periods before the next one are used up. */
async function buildUserWithApp(role: Role = 'author') {
  const { user, organization } = await buildUser(api, { role });
  const session = await beginSession(api, { user });
  const { secret } = jsonOf(await send('POST', path, session)) as { secret: string };
  const body = { password: testPassword, secret, code: codeOf(secret) };
  const other = await beginSession(api, { user });
  const enabled = await send('PUT', path, session, body);
  const { recoveryCodes } = jsonOf(enabled) as { recoveryCodes: string[] };
  for (const ended of [session, other]) expect((await send('GET', '/api/session', ended)).status).toBe(401);
  const logIn = (code?: string) =>
    postSession(api.url, { email: user.email, password: testPassword, ...(code !== undefined && { code }) });
  return { user, organization, session: { cookie: cookieOf(enabled) }, secret, recoveryCodes, logIn };
}

describe('two-step login', () => {
  test('needs a code of the app, which works once, and is confirmed with the password and a code', async () => {
    const { user, session, secret, recoveryCodes, logIn } = await buildUserWithApp();
    const required = await logIn();
    expectError(required, 401, 'A code of your authenticator app is required');
    expect(required.headers.get('error-code')).toBe('CODE_REQUIRED');
    expectError(await logIn('000000'), 401, wrongCode);
    // The code of this period has confirmed the secret.
    expectError(await logIn(codeOf(secret)), 401, wrongCode);
    const next = codeOf(secret, 1);
    const answers = await Promise.all([logIn(next), logIn(next)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    const wrongPassword = { email: user.email, password: 'a wrong password', code: next };
    expectError(await postSession(api.url, wrongPassword), 401, 'Email or password is wrong');
    expect(jsonOf(await send('GET', '/api/session', session))).toMatchObject({ twoStep: 'on' });
    const stored = JSON.stringify(await api.db.users.findById(user._id).lean());
    expect(stored).not.toContain(secret);

    const fresh = (jsonOf(await send('POST', path, session)) as { secret: string }).secret;
    const [first = '', second = ''] = recoveryCodes;
    const given = { password: testPassword, secret: fresh, code: codeOf(fresh), currentCode: first };
    for (const [body, error] of [
      [{ ...given, password: 'a wrong password' }, 'The password is wrong'],
      [{ ...given, currentCode: codeOf(fresh) }, wrongCode],
      [{ ...given, currentCode: undefined }, 'currentCode is required, because two-step login is on'],
      [{ ...given, code: codeOf(secret) }, wrongCode],
    ] as const)
      expectError(await send('PUT', path, session, body), 422, error);
    expectError(await send('PUT', path, session, given), 422, wrongCode);
    expect((await send('PUT', path, session, { ...given, currentCode: second })).status).toBe(200);
  });

  test('takes each recovery code once; new ones replace the earlier ones', async () => {
    const { session, recoveryCodes, logIn } = await buildUserWithApp();
    const [first = '', second = '', third = ''] = recoveryCodes;
    expect(new Set(recoveryCodes).size).toBe(10);
    expect((await logIn(` ${first.slice(0, 5)}-${first.slice(5).toLowerCase()}`)).status).toBe(200);
    expectError(await logIn(first), 401, wrongCode);
    const renewed = await send('POST', `${path}/recovery-codes`, session, { code: second });
    const [newest = ''] = (jsonOf(renewed) as { recoveryCodes: string[] }).recoveryCodes;
    expectError(await logIn(third), 401, wrongCode);
    expect((await logIn(newest)).status).toBe(200);
  });

  test('is turned off with a code, or by an administrator', async () => {
    const { user, organization, session, recoveryCodes, logIn } = await buildUserWithApp();
    expectError(await send('POST', `${path}/disable`, session, { code: '000000' }), 422, wrongCode);
    expect((await send('POST', `${path}/disable`, session, { code: recoveryCodes[0] })).status).toBe(204);
    expect((await logIn()).status).toBe(200);
    expectError(await send('POST', `${path}/disable`, session, { code: '1' }), 409, 'Two-step login is off');

    const other = await buildUserWithApp();
    await api.db.users.updateOne({ _id: other.user._id }, { organizationId: organization._id });
    await api.db.users.updateOne({ _id: user._id }, { role: 'admin' });
    const changed = await send('PATCH', `/api/users/${other.user._id}`, session, { twoStep: 'off' });
    expect(jsonOf(changed)).toMatchObject({ twoStep: false });
    expect((await other.logIn()).status).toBe(200);
  });

  test('that is required leaves a user without permissions until it is set up', async () => {
    const strict = await api.startApi({ TWO_STEP_LOGIN: 'admins' });
    const read = async (cookie: string, resource: string) => ask(strict + resource, { headers: { cookie } });
    for (const [role, expected] of [
      ['admin', { permissions: [], twoStep: 'required' }],
      ['operator', { permissions: [], twoStep: 'required' }],
      ['author', { permissions: ['read', 'content'], twoStep: 'off' }],
    ] as const) {
      const { cookie } = await beginSession(api, await buildUser(api, { role }));
      expect(jsonOf(await read(cookie, '/api/session'))).toMatchObject(expected);
      expect((await read(cookie, '/api/lessons')).status).toBe(role === 'author' ? 200 : 403);
      expect((await read(cookie, '/admin/queues')).status).toBe(404);
    }
    const { session } = await buildUserWithApp('operator');
    expect(jsonOf(await read(session.cookie, '/api/session'))).toMatchObject({ permissions: ['operator'] });
    expect((await read(session.cookie, '/admin/queues')).status).toBe(200);
  });
});

test('a right password without a code, and wrong ones, are in the audit log', async () => {
  const { user, organization, session, logIn } = await buildUserWithApp();
  await logIn();
  await logIn('000000');
  await send('POST', `${path}/disable`, session, { code: '000000' });
  const change = { currentPassword: 'wrong', newPassword: 'another good password' };
  await send('PUT', '/api/session/password', session, change);
  const found: unknown[] = [];
  await waitFor('the entries', async () => {
    found.length = 0;
    for await (const { action, actor, target, details } of readAudit(api.db, organization._id, {}))
      if (action === 'session.reject' && target?.id === user._id) found.push([actor.id, details.reason]);
    return found.length === 4;
  });
  expect(found).toEqual([
    ['login', 'code_required'],
    ['login', 'wrong_code'],
    [user._id, 'wrong_code'],
    [user._id, 'wrong_password'],
  ]);
});

test('wrong codes count as failed logins, and a login that lacks its code does not', async () => {
  const strict = await api.startApi({ LOGIN_TRIES: '2' });
  const { user } = await buildUserWithApp();
  const logIn = async (code?: string) =>
    (await postSession(strict, { email: user.email, password: testPassword, ...(code && { code }) })).status;
  expect([await logIn(), await logIn(), await logIn()]).toEqual([401, 401, 401]);
  expect([await logIn('000000'), await logIn('000001'), await logIn()]).toEqual([401, 401, 429]);
});

test('20 wrong codes in a day, over all addresses, stop logins with codes; known browsers count apart', async () => {
  const { user, recoveryCodes, logIn } = await buildUserWithApp();
  const known = { cookie: cookieOf(await logIn(recoveryCodes[0])) };
  const wrong = await Promise.all(Array.from({ length: 21 }, () => logIn('000000')));
  expect(wrong.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 20 }, () => 401), 429]);
  const late = await logIn(recoveryCodes[1]);
  expect(late.status).toBe(429);
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(23 * 3600);
  const body = { email: user.email, password: testPassword, code: recoveryCodes[1] };
  expect((await postSession(api.url, body, known)).status).toBe(200);
});
