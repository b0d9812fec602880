import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { issueApiKey } from '../../shared/models/api-key.ts';
import type { KeyScopes, Role } from '../../shared/accounts/permissions.ts';
import { readAudit } from '../../shared/models/audit-entry.ts';
import { ask, expectError, jsonOf, senderOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { beginSession, buildUser, logIn, openSession, postSession, quickHash } from './users.ts';

const api = useApi({ LOGIN_TRIES: '1000', PUBLIC_URL: 'https://lectern.example' });

interface Invitation {
  token: string;
  url: string;
  expiresAt: string;
}
interface Listed {
  id: string;
  email: string;
  role: string;
  status: string;
  invitation: Invitation;
}

type Headers = Record<string, string>;

const send = senderOf(api);

const newEmail = () => `${randomUUID()}@example.com`;

/** Returns an administrator with a session, in an organization of its own. */
async function buildAdmin(role: Role = 'admin') {
  const { user, organization } = await buildUser(api, { role, passwordHash: quickHash });
  return { user, organization, session: await beginSession(api, { user }) };
}

async function invite(session: Headers, role = 'author', email = newEmail()): Promise<Listed> {
  const answer = await send('POST', '/api/users', session, { email, role });
  expect(answer.status).toBe(201);
  return jsonOf(answer) as Listed;
}

const accept = (token: string, password = 'a good new password') =>
  send('POST', '/api/invitation/accept', {}, { token, password });

async function keyOf(organizationId: string, scopes: KeyScopes): Promise<Headers> {
  const fields = { organizationId, label: null, expiresAt: null, scopes };
  const { publicKey, secretKey } = await issueApiKey(api.db, testPepper, fields);
  return { authorization: `Bearer ${publicKey}.${secretKey}` };
}

describe('an invitation', () => {
  test('sets a password once, and then the user logs in', async () => {
    const { session, organization } = await buildAdmin();
    const invited = await invite(
      session,
      'teacher',
      ' Ada.Lovelace@Example.com'.replace('Ada', randomUUID()),
    );
    const { token, url, expiresAt } = invited.invitation;
    expect(invited).toMatchObject({ role: 'teacher', status: 'invited' });
    expect(url).toBe(`https://lectern.example/console/invitation#${token}`);
    expect(await postSession(api.url, { email: invited.email, password: '' })).toHaveProperty('status', 422);
    expectError(await logIn(api.url, invited), 401, 'Email or password is wrong');

    const shown = await send('POST', '/api/invitation', {}, { token });
    expect(jsonOf(shown)).toEqual({ email: invited.email, organization: organization.name, expiresAt });
    expectError(
      await accept(token, 'short'),
      422,
      'A password has 10 to 200 characters, and no control characters.',
    );
    const accepted = await Promise.all([accept(token), accept(token)]);
    expect(accepted.map(({ status }) => status).sort()).toEqual([204, 404]);
    const { email } = invited;
    const loggedIn = await postSession(api.url, { email, password: 'a good new password' });
    expect(jsonOf(loggedIn)).toMatchObject({ user: { role: 'teacher' }, permissions: ['read', 'learners'] });
    expect(await jsonOf(await send('GET', `/api/users/${invited.id}`, session))).toMatchObject({
      status: 'active',
      lastLogInAt: expect.any(String) as string,
      invitationExpiresAt: null,
    });
  });

  test('is stored as a digest only, and neither an expired, a replaced nor an unknown one works', async () => {
    const { session } = await buildAdmin();
    const { id, invitation } = await invite(session);
    expect(JSON.stringify(await api.db.users.findById(id).lean())).not.toContain(invitation.token);
    const again = jsonOf(await send('POST', `/api/users/${id}/invitation`, session)) as Invitation;
    expect(again.token).not.toBe(invitation.token);
    await api.db.users.updateOne({ _id: id }, { 'invitation.expiresAt': new Date() });
    for (const token of [invitation.token, again.token, 'unknown'])
      for (const path of ['/api/invitation', '/api/invitation/accept'])
        expectError(
          await send(
            'POST',
            path,
            {},
            { token, ...(path.endsWith('accept') && { password: 'a good password' }) },
          ),
          404,
          'This invitation is not valid any more',
        );
  });

  test('for a user with a password replaces it, and ends the sessions, when it is used', async () => {
    const { session, organization } = await buildAdmin();
    const { user } = await buildUser(api, { organization, passwordHash: quickHash });
    const own = await beginSession(api, { user });
    const { token } = jsonOf(await send('POST', `/api/users/${user._id}/invitation`, session)) as Invitation;
    expect((await send('GET', '/api/session', own)).status).toBe(200);
    expect((await accept(token)).status).toBe(204);
    expect((await send('GET', '/api/session', own)).status).toBe(401);
    expect((await logIn(api.url, user)).status).toBe(401);
  });

  test('of a disabled user neither works nor can be sent, and does not come back', async () => {
    const { session } = await buildAdmin();
    const { id, invitation } = await invite(session);
    expect((await send('PATCH', `/api/users/${id}`, session, { status: 'disabled' })).status).toBe(200);
    expect((await accept(invitation.token)).status).toBe(404);
    expectError(
      await send('POST', `/api/users/${id}/invitation`, session),
      409,
      'The user is disabled: enable the user before you send an invitation',
    );
    expect((await send('PATCH', `/api/users/${id}`, session, { status: 'active' })).status).toBe(200);
    expect((await accept(invitation.token)).status).toBe(404);
  });

  test('ends when its user gets another role', async () => {
    const { session } = await buildAdmin();
    const { id, invitation } = await invite(session);
    const change = (role: string) => send('PATCH', `/api/users/${id}`, session, { role });
    expect(jsonOf(await change('author'))).toHaveProperty('invitationExpiresAt', invitation.expiresAt);
    expect(jsonOf(await change('teacher'))).toHaveProperty('invitationExpiresAt', null);
    expect((await accept(invitation.token)).status).toBe(404);
  });

  test.each<[string, (maker: string, session: Headers) => Promise<Answer>]>([
    ['is disabled', (id, session) => send('PATCH', `/api/users/${id}`, session, { status: 'disabled' })],
    ['gets another role', (id, session) => send('PATCH', `/api/users/${id}`, session, { role: 'teacher' })],
    ['is deleted', (id, session) => send('DELETE', `/api/users/${id}`, session)],
  ])('ends when the user who made it %s, and others stay', async (_, change) => {
    const { session, organization, user } = await buildAdmin();
    const { user: maker } = await buildUser(api, { organization, role: 'admin', passwordHash: quickHash });
    const own = await beginSession(api, { user: maker });
    const reset = await send('POST', `/api/users/${user._id}/invitation`, own);
    const invited = await invite(own);
    const kept = await invite(session);
    expect((await change(maker._id, session)).status).toBeLessThan(300);
    for (const { token } of [jsonOf(reset) as Invitation, invited.invitation])
      expect((await accept(token)).status).toBe(404);
    expect((await accept(kept.invitation.token)).status).toBe(204);
  });

  test('that an API key made ends when the key is revoked; the audit log says who made one that is used', async () => {
    const { session, organization } = await buildAdmin();
    const key = await keyOf(organization._id, ['accounts', 'read', 'content']);
    const publicKey = key.authorization?.slice('Bearer '.length).split('.')[0];
    const [used, open] = [await invite(key), await invite(key)];
    expect((await accept(used.invitation.token)).status).toBe(204);
    expect((await send('DELETE', `/api/keys/${publicKey}`, session)).status).toBe(204);
    expect((await accept(open.invitation.token)).status).toBe(404);
    const accepted: unknown[] = [];
    for await (const { action, actor, details } of readAudit(api.db, organization._id, {}))
      if (action === 'invitation.accept') accepted.push([actor.id, details]);
    expect(accepted).toEqual([[used.id, { invitedBy: publicKey }]]);
  });

  test('that was used does not become valid again when its request is repeated after a crash', async () => {
    const { session } = await buildAdmin();
    const { id } = await invite(session);
    const headers = { ...session, 'idempotency-key': randomUUID() };
    const request = () => send('POST', `/api/users/${id}/invitation`, headers);
    const { token } = jsonOf(await request()) as Invitation;
    expect((await accept(token)).status).toBe(204);
    await api.db.idempotentRequests.updateMany({}, { $set: { response: null } });
    expect((jsonOf(await request()) as Invitation).token).not.toBe(token);
    expect((await accept(token)).status).toBe(404);
  });

  test('cannot be sent to an address that any user has', async () => {
    const { user } = await buildUser(api, { passwordHash: quickHash });
    const { session } = await buildAdmin();
    const body = { email: user.email.toUpperCase(), role: 'author' };
    expectError(await send('POST', '/api/users', session, body), 409, `A user ${user.email} exists.`);
  });
});

describe('users', () => {
  test('are listed in pages, the newest first, without those of other organizations', async () => {
    const { session, user } = await buildAdmin();
    await buildAdmin();
    const invited = [await invite(session), await invite(session)];
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = jsonOf(await send('GET', `/api/users?limit=2${query}`, session)) as {
        users: Listed[];
        nextCursor: string | null;
      };
      expect(page.users.length).toBeLessThanOrEqual(2);
      found.push(...page.users.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(found.toSorted()).toEqual([user._id, ...invited.map(({ id }) => id)].toSorted());
    expect(found.at(-1)).toBe(user._id);
  });

  test('get another role with the next request; a disabled user’s sessions do not come back', async () => {
    const { session, organization } = await buildAdmin();
    const { user } = await buildUser(api, { organization, passwordHash: quickHash });
    const own = await beginSession(api, { user });
    const path = `/api/users/${user._id}`;
    expect((await send('PATCH', path, session, { role: 'teacher' })).status).toBe(200);
    expect(jsonOf(await send('GET', '/api/session', own))).toMatchObject({
      permissions: ['read', 'learners'],
    });
    expect((await send('PATCH', path, session, { status: 'disabled' })).status).toBe(200);
    expect((await send('GET', '/api/session', own)).status).toBe(401);
    expect((await send('PATCH', path, session, { status: 'active' })).status).toBe(200);
    expect((await send('GET', '/api/session', own)).status).toBe(401);
    const { cookie } = await openSession(api.url, user);
    expect((await send('DELETE', path, session)).status).toBe(204);
    expect((await send('GET', '/api/session', { cookie })).status).toBe(401);
    expectError(await send('DELETE', path, session), 404, 'User not found');
  });

  test('cannot lock themselves out', async () => {
    const { session, user } = await buildAdmin();
    const path = `/api/users/${user._id}`;
    const text = 'You cannot change your own role, and not disable or delete yourself';
    expectError(await send('PATCH', path, session, { role: 'author' }), 409, text);
    expectError(await send('DELETE', path, session), 409, text);
    expectError(await send('POST', `${path}/invitation`, session), 409, text);
  });

  test('of another organization are unknown', async () => {
    const { session } = await buildAdmin();
    const { user } = await buildAdmin('author');
    const path = `/api/users/${user._id}`;
    for (const [method, url, json] of [
      ['GET', path],
      ['PATCH', path, { role: 'teacher' }],
      ['DELETE', path],
      ['POST', `${path}/invitation`],
    ] as const)
      expectError(await send(method, url, session, json), 404, 'User not found');
    expect(await api.db.users.findById(user._id).lean()).toMatchObject({ role: 'author', invitation: null });
  });

  test('give a key no way to more rights than it has', async () => {
    const { user, organization } = await buildAdmin();
    const key = await keyOf(organization._id, ['accounts', 'read', 'learners']);
    const { id } = await invite(key, 'teacher');
    const refused: [string, string, object?][] = [
      ['POST', '/api/users', { email: newEmail(), role: 'admin' }],
      ['POST', '/api/users', { email: newEmail(), role: 'author' }],
      ['PATCH', `/api/users/${id}`, { role: 'admin' }],
      ['POST', `/api/users/${user._id}/invitation`],
      ['PATCH', `/api/users/${user._id}`, { status: 'disabled' }],
      ['DELETE', `/api/users/${user._id}`],
      ['POST', '/api/keys', {}],
      ['POST', '/api/keys', { scopes: ['erase'] }],
    ];
    for (const [method, path, json] of refused) {
      const answer = await send(method, path, key, json);
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
    expect((await send('POST', '/api/keys', key, { scopes: ['read'] })).status).toBe(201);
  });
});

test('a changed password ends the other sessions, and continues this one with another cookie', async () => {
  const { user } = await buildUser(api);
  const [own, other] = [await beginSession(api, { user }), await beginSession(api, { user })];
  const change = (currentPassword: string, newPassword: string) =>
    send('PUT', '/api/session/password', own, { currentPassword, newPassword });
  expectError(
    await change('a wrong password', 'another good password'),
    422,
    'The current password is wrong',
  );
  expect((await change('correct horse battery', '1234567890')).status).toBe(422);
  const changed = await change('correct horse battery', 'another good password');
  expect(changed.status).toBe(204);
  const cookie = changed.headers
    .getSetCookie()
    .map((one) => one.split(';', 1)[0])
    .join('; ');
  for (const [session, status] of [
    [{ cookie }, 200],
    [own, 401],
    [other, 401],
  ] as const)
    expect((await send('GET', '/api/session', session)).status).toBe(status);
});

test('wrong current passwords are throttled like logins', async () => {
  const strict = await api.startApi({ LOGIN_TRIES: '2' });
  const { user } = await buildUser(api);
  const own = await beginSession(api, { user });
  const statuses = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const answer = await ask(`${strict}/api/session/password`, {
      method: 'PUT',
      headers: { ...own, 'content-type': 'application/json' },
      body: JSON.stringify({ currentPassword: 'wrong', newPassword: 'another good password' }),
    });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([422, 422, 429]);
});

describe('API keys', () => {
  interface Key {
    publicKey: string;
    credentials: string;
    scopes: string[] | null;
    revokedAt: string | null;
    expiresAt: string | null;
  }

  test('are created, used, rotated with an overlap, and revoked', async () => {
    const { session, organization } = await buildAdmin();
    const body = { label: 'the shop', scopes: ['read', 'read'], allowedAddresses: ['127.0.0.1', '::1'] };
    const created = jsonOf(await send('POST', '/api/keys', session, body)) as Key;
    expect(created).toMatchObject({
      label: 'the shop',
      scopes: ['read'],
      allowedAddresses: ['127.0.0.1/32', '::1/128'],
      lastUsedAt: null,
    });
    const bearer = ({ credentials }: Key) => ({ authorization: `Bearer ${credentials}` });
    expect((await send('GET', '/api/lessons', bearer(created))).status).toBe(200);
    const path = `/api/keys/${created.publicKey}`;
    const rotated = await send('POST', `${path}/rotate`, session, { overlapHours: 1 });
    const successor = jsonOf(rotated) as Key;
    expect(successor).toMatchObject({ label: 'the shop', scopes: ['read'] });
    for (const key of [created, successor])
      expect((await send('GET', '/api/lessons', bearer(key))).status).toBe(200);
    expect((await send('DELETE', path, session)).status).toBe(204);
    expect((await send('GET', '/api/lessons', bearer(created))).status).toBe(401);
    expectError(await send('POST', `${path}/rotate`, session, {}), 409, 'The API key was revoked');
    const { keys } = jsonOf(await send('GET', '/api/keys', session)) as { keys: Key[] };
    expect(keys.map(({ publicKey }) => publicKey).slice(0, 2)).toEqual([
      successor.publicKey,
      created.publicKey,
    ]);
    expect(keys[1]).toMatchObject({
      revokedAt: expect.any(String) as string,
      lastUsedAt: expect.any(String) as string,
    });
    expect(JSON.stringify(keys)).not.toContain(successor.credentials.split('lks_')[1]);
    const actions: string[] = [];
    for await (const { action, actor } of readAudit(api.db, organization._id, {}))
      actions.push(`${actor.type} ${action}`);
    expect(actions.filter((action) => action.includes(' key.'))).toEqual([
      'user key.create',
      'user key.rotate',
      'user key.revoke',
    ]);
  });

  test('made or rotated with a key stay within its expiry and IP addresses, and name it; it revokes no broader one', async () => {
    const { organization, session, user } = await buildAdmin();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const given = { scopes: ['accounts', 'read'], expiresAt, allowedAddresses: ['127.0.0.0/8', '::1'] };
    const made = jsonOf(await send('POST', '/api/keys', session, given)) as Key & { createdBy: string };
    expect(made.createdBy).toBe(user._id);
    const own = { authorization: `Bearer ${made.credentials}` };
    const create = (fields: object) => send('POST', '/api/keys', own, { scopes: ['read'], ...fields });
    const narrower = { allowedAddresses: ['127.0.0.1'], expiresAt: null };
    expect(jsonOf(await create(narrower))).toMatchObject({
      ...{ createdBy: made.publicKey, expiresAt, allowedAddresses: ['127.0.0.1/32'] },
    });
    const ranges = ['127.0.0.0/8', '::1/128'];
    expect(jsonOf(await create({}))).toMatchObject({ expiresAt, allowedAddresses: ranges });
    for (const allowedAddresses of [['127.0.0.0/7'], ['::1', '192.0.2.1']])
      expect((await create({ allowedAddresses })).status).toBe(403);
    const rotate = (key: string, headers: Headers) => send('POST', `/api/keys/${key}/rotate`, headers, {});
    const rotated = jsonOf(await rotate(made.publicKey, own));
    expect(rotated).toMatchObject({ createdBy: made.publicKey, expiresAt, allowedAddresses: ranges });
    const other = (await keyOf(organization._id, ['read'])).authorization?.slice(7).split('.')[0] ?? '';
    expect((await rotate(other, own)).status).toBe(403);
    const broad = (await keyOf(organization._id, null)).authorization?.slice(7).split('.')[0] ?? '';
    expect((await send('DELETE', `/api/keys/${broad}`, own)).status).toBe(403);
    for (const key of [other, made.publicKey])
      expect((await send('DELETE', `/api/keys/${key}`, own)).status).toBe(204);
  });

  test('of another organization are unknown', async () => {
    const { session } = await buildAdmin();
    const { credentials } = await buildOrganization(api);
    const path = `/api/keys/${credentials.split('.')[0]}`;
    expectError(await send('DELETE', path, session), 404, 'API key not found');
    expectError(await send('POST', `${path}/rotate`, session, {}), 404, 'API key not found');
    const bearer = { authorization: `Bearer ${credentials}` };
    expect((await send('GET', '/api/lessons', bearer)).status).toBe(200);
  });

  test('that are invalid get 422 with the reason', async () => {
    const { session } = await buildAdmin();
    const inThePast = { expiresAt: '2020-01-01T00:00:00Z' };
    for (const [body, error] of [
      [{ scopes: [] }, 'scopes must be a list of scopes'],
      [{ scopes: ['operator'] }, 'scopes must be a list of scopes'],
      [inThePast, 'expiresAt must be a time in the future, or null'],
      [{ expiresAt: 'never' }, 'expiresAt must be a time in the future, or null'],
      [{ allowedAddresses: ['127.1'] }, 'allowedAddresses has no IP address or range "127.1"'],
      [{ label: '' }, 'label must not be empty'],
    ] as const) {
      const answer = await send('POST', '/api/keys', session, body);
      expect(answer.status).toBe(422);
      expect((jsonOf(answer) as { error: string }).error).toContain(error);
    }
  });
});
