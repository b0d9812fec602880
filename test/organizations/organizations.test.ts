import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { installationLog, readAudit } from '../../shared/models/audit-entry.ts';
import { beginSession, buildUser, logIn, openSession, quickHash, testPassword } from '../accounts/users.ts';
import { pngWith } from '../exports/pictures.ts';
import { ask, expectError, jsonOf, senderOf } from '../support/answers.ts';
import { buildLearnerToken, buildPackage, buildVersion } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';

const api = useApi();

const send = senderOf(api);

async function openOperator() {
  const { user } = await buildUser(api, { role: 'operator', passwordHash: quickHash });
  return { user, session: await beginSession(api, { user }) };
}

test('an operator creates an organization and invites its first administrator, who sees it', async () => {
  const { user: operator, session } = await openOperator();
  const slug = `org-${randomUUID()}`;
  const path = '/api/operator/organizations';
  const created = await send('POST', path, session, { slug, name: 'Acme', plan: 'solo' });
  expect(created.status).toBe(201);
  const { id } = jsonOf(created) as { id: string };
  expectError(
    await send('POST', path, session, { slug, name: 'Acme', plan: 'solo' }),
    409,
    `An organization with the slug "${slug}" exists.`,
  );
  const email = `${randomUUID()}@example.com`;
  const invited = await send('POST', `${path}/${id}/users`, session, { email, role: 'admin' });
  const { invitation } = jsonOf(invited) as { invitation: { token: string } };
  const body = { token: invitation.token, password: 'correct horse battery' };
  expect((await send('POST', '/api/invitation/accept', {}, body)).status).toBe(204);
  const admin = await openSession(api.url, { email });
  expect(jsonOf(await send('GET', '/api/organization', admin))).toMatchObject({ id, slug, plan: 'solo' });

  expect(
    (await send('PATCH', `${path}/${id}`, session, { plan: 'edtech', maxStoredBytes: 1000 })).status,
  ).toBe(200);
  expect(jsonOf(await send('GET', '/api/organization', admin))).toMatchObject({ plan: 'edtech' });
  expect(jsonOf(await send('GET', '/api/organization/storage', admin))).toEqual({
    storedBytes: 0,
    maxBytes: 1000,
  });
  const page = jsonOf(await send('GET', `${path}?limit=1`, session)) as {
    organizations: { id: string }[];
    nextCursor: string;
  };
  expect(page.organizations).toMatchObject([{ id }]);
  const rest = jsonOf(await send('GET', `${path}?cursor=${page.nextCursor}`, session)) as typeof page;
  expect(rest.organizations.map((one) => one.id)).toContain(api.organization._id);

  const entries: string[] = [];
  for await (const { action, actor, ip } of readAudit(api.db, id, {})) {
    entries.push(`${actor.type}${actor.id === operator._id ? '' : ' other'} ${action}`);
    expect(ip === null).toBe(actor.type === 'operator');
  }
  expect(entries).toEqual([
    'operator organization.create',
    'operator user.invite',
    'user other invitation.accept',
    'user other session.begin',
    'operator organization.change',
  ]);
  expectError(await send('GET', `${path}/${randomUUID()}`, session), 404, 'Organization not found');
});

test('an operator invites another one, who logs in until disabled, but neither themselves nor users of organizations, and takes over no account without their own password', async () => {
  const { user, session } = await openOperator();
  const path = '/api/operator/users';
  const email = `${randomUUID()}@example.com`;
  const invited = jsonOf(await send('POST', path, session, { email })) as {
    id: string;
    status: string;
    invitation: { token: string };
  };
  expect(invited).toMatchObject({ status: 'invited', email });
  expect(invited).not.toHaveProperty('role');
  const own = { password: testPassword };
  const link = (id: string, confirmation: object = own) =>
    send('POST', `${path}/${id}/invitation`, session, confirmation);
  expectError(await link(invited.id, { password: 'not mine' }), 422, 'The password is wrong');
  const again = await link(invited.id);
  const { token } = jsonOf(again) as { token: string };
  const body = { token, password: 'correct horse battery' };
  expect((await send('POST', '/api/invitation/accept', {}, body)).status).toBe(204);
  const other = await openSession(api.url, { email });
  const { users } = jsonOf(await send('GET', path, other)) as { users: object[] };
  expect(users.slice(0, 2)).toMatchObject([
    { id: invited.id, status: 'active', twoStep: false },
    { id: user._id, status: 'active' },
  ]);
  const { user: ofOrganization } = await buildUser(api, { organization: api.organization });
  for (const [id, status, fault] of [
    [user._id, 409, 'Operators cannot change or invite themselves; another operator or `lectern user` can'],
    [ofOrganization._id, 404, 'Operator not found'],
  ] as const) {
    expectError(await send('PATCH', `${path}/${id}`, session, { status: 'disabled' }), status, fault);
    expectError(await send('DELETE', `${path}/${id}`, session), status, fault);
    expectError(await link(id), status, fault);
  }
  expectError(await send('POST', path, session, { email }), 409, `A user ${email} exists.`);

  const change = { status: 'disabled', twoStep: 'off' };
  expectError(
    await send('PATCH', `${path}/${invited.id}`, session, change),
    422,
    'password is required: your own',
  );
  const disabled = await send('PATCH', `${path}/${invited.id}`, session, { ...change, ...own });
  expect(jsonOf(disabled)).toMatchObject({ id: invited.id, status: 'disabled' });
  expect((await send('GET', path, other)).status).toBe(401);
  expectError(
    await link(invited.id),
    409,
    'The user is disabled: enable the user before you send an invitation',
  );
  expect((await send('DELETE', `${path}/${invited.id}`, session)).status).toBe(204);
  expectError(await link(invited.id), 404, 'Operator not found');
  const entries: string[] = [];
  for await (const { action, target, actor } of readAudit(api.db, installationLog, {}))
    if (target?.id === invited.id && actor.id === user._id) entries.push(action);
  expect(entries).toEqual(['user.invite', 'user.invite', 'user.change', 'user.delete']);
});

test('a suspended organization rejects its servers, users and learners, until it is active again', async () => {
  const { session } = await openOperator();
  const { user, organization } = await buildUser(api, { role: 'admin', passwordHash: quickHash });
  const own = await beginSession(api, { user });
  const { credentials } = jsonOf(await send('POST', '/api/keys', own, {})) as { credentials: string };
  const key = { authorization: `Bearer ${credentials}` };
  const { lessonId } = await buildVersion(api, organization, (await buildPackage()).path);
  const token = () => buildLearnerToken({ organizationId: organization._id, lessonId });
  const statuses = async (learner: string, users = own) => [
    (await send('GET', '/api/lessons', key)).status,
    (await send('GET', '/api/lessons', users)).status,
    (await logIn(api.url, user)).status,
    (await send('GET', `/api/public/lessons/${lessonId}/session?token=${learner}`, {})).status,
  ];
  const before = token();
  expect(await statuses(before)).toEqual([200, 200, 200, 200]);

  const path = `/api/operator/organizations/${organization._id}`;
  const suspended = await send('PATCH', path, session, { status: 'suspended' });
  expect(jsonOf(suspended)).toMatchObject({ suspendedAt: expect.any(String) as string });
  expect(await statuses(before)).toEqual([401, 401, 403, 401]);
  expect((await statuses(token())).at(-1)).toBe(401);
  expectError(await logIn(api.url, user), 403, 'Your organization is suspended. Ask the operator.');
  const { headers } = await send('GET', '/api/lessons', key);
  expect(headers.get('www-authenticate')).toContain('The operator has suspended the organization');

  expect(jsonOf(await send('PATCH', path, session, { status: 'active' }))).toMatchObject({
    suspendedAt: null,
  });
  expect(await statuses(before)).toEqual([200, 401, 200, 401]);
  const later = await openSession(api.url, user);
  // Tokens have whole seconds: one of the same second counts as signed before.
  await waitFor('a new token', async () =>
    (await statuses(token(), later)).every((status) => status === 200),
  );
});

test('an administrator changes name, origins and look, with the reasons for what is wrong', async () => {
  const { user } = await buildUser(api, { role: 'admin', passwordHash: quickHash });
  const session = await beginSession(api, { user });
  const changed = await send('PATCH', '/api/organization', session, {
    name: ' Acme ',
    allowedOrigins: ['https://LMS.example/', 'https://lms.example'],
    keyDays: 30,
  });
  expect(jsonOf(changed)).toMatchObject({
    name: 'Acme',
    allowedOrigins: ['https://lms.example'],
    keyDays: 30,
  });
  const origins = await send('PATCH', '/api/organization', session, { allowedOrigins: ['*'] });
  expectError(
    origins,
    422,
    'allowedOrigins: "*" is no origin. It must be one origin, without *. Name no origin at all to allow any.',
  );
  expect((await send('PATCH', '/api/organization', session, { plan: 'edtech' })).status).toBe(422);

  const theme = '/api/organization/theme';
  const logo = pngWith('a logo').toString('base64');
  const set = await send('PATCH', theme, session, { color: '#C2185B', font: 'humanist', logo });
  const shown = jsonOf(set) as { logo: { url: string } };
  expect(shown).toMatchObject({ color: '#c2185b', font: 'humanist', logoAlt: 'Acme', radius: null });
  expect((await ask(new URL(shown.logo.url, api.url).href)).headers.get('content-type')).toBe('image/png');
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
  expectError(
    await send('PATCH', theme, session, { logo: svg }),
    422,
    'logo is an SVG, which may contain scripts. Use PNG, JPEG or WebP.',
  );
  expect((await send('PATCH', theme, session, { color: 'red' })).status).toBe(422);
  await send('PATCH', theme, session, { logo: null, font: null });
  expect(jsonOf(await send('GET', theme, session))).toEqual({
    ...{ color: '#c2185b', scheme: null, font: null, fontFile: null },
    ...{ radius: null, logo: null, logoAlt: null },
  });
});
