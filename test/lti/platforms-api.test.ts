import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { changePlatform, createPlatform, removeUnusedKeySets } from '../../shared/models/lti-platform.ts';
import { findOrCreateScore } from '../../shared/models/lti-score.ts';
import { ask, expectError, jsonOf, senderOf } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { useApi, useStarted } from '../support/use.ts';
import { startLaunchLab } from './support/launch-lab.ts';

const api = useApi({ PUBLIC_URL: 'https://lectern.example' });

const send = senderOf(api);

const newPlatform = (issuer = `https://${randomUUID()}.example`) => ({
  issuer,
  clientId: 'lectern',
  deploymentIds: ['1'],
  authUrl: `${issuer}/auth`,
  tokenUrl: `${issuer}/token`,
  jwksUrl: `${issuer}/jwks`,
});

interface Platform {
  id: string;
  keySetUrl: string;
}

async function addPlatform(headers: Record<string, string>, platform = newPlatform()): Promise<Platform> {
  const answer = await send('POST', '/api/platforms', headers, platform);
  expect(answer.status).toBe(201);
  return jsonOf(answer) as Platform;
}

test('a registration link gives the URLs for one platform, which is then connected with its key set', async () => {
  const { headers } = await buildOrganization(api);
  const path = '/api/platform-registrations';
  const created = jsonOf(await send('POST', path, headers)) as Record<string, string>;
  expect(created).toMatchObject({
    status: 'open',
    url: expect.stringMatching(/^https:\/\/lectern\.example\/lti\/register\/[\w-]{43}$/) as string,
    keySetUrl: `https://lectern.example/lti/jwks/${created.keySetId}`,
    launchUrl: 'https://lectern.example/lti/launch',
  });
  expect((await ask(`${api.url}/lti/jwks/${created.keySetId}`)).status).toBe(200);
  const platform = { ...newPlatform(), keySetId: created.keySetId };
  expect((await addPlatform(headers, platform)).keySetUrl).toBe(created.keySetUrl);
  const { registrations } = jsonOf(await send('GET', path, headers)) as { registrations: object[] };
  expect(registrations).toMatchObject([{ id: created.id, status: 'open' }]);
  expect(JSON.stringify(registrations)).not.toContain(created.url?.split('/').at(-1));

  const { headers: stranger } = await buildOrganization(api);
  const other = { ...newPlatform(), keySetId: created.keySetId };
  expectError(await send('POST', '/api/platforms', stranger, other), 404, 'Key set not found');
  expectError(await send('DELETE', `${path}/${created.id}`, stranger), 404, 'Registration not found');
  expect((await send('DELETE', `${path}/${created.id}`, headers)).status).toBe(204);
  expectError(await send('DELETE', `${path}/${created.id}`, headers), 404, 'Registration not found');
});

test('20 open registrations are the most, none costs a key before its key set is read, and revoked ones leave none', async () => {
  const { headers, organization } = await buildOrganization(api);
  const path = '/api/platform-registrations';
  const create = (key = {}) => send('POST', path, { ...headers, ...key });
  const keyed = { 'idempotency-key': randomUUID() };
  const { keySetId, id } = jsonOf(await create(keyed)) as { keySetId: string; id: string };
  const keys = () => api.db.ltiKeys.countDocuments({ keySetId });
  expect(await keys()).toBe(0);
  for (let made = 1; made < 20; made += 1) expect((await create()).status).toBe(201);
  expectError(
    await create(),
    409,
    'There are 20 open registrations. Use or delete them, or wait until they expire.',
  );
  await api.db.idempotentRequests.updateMany({}, { $set: { response: null } });
  expect((await create(keyed)).status).toBe(201);
  const url = `${api.url}/lti/jwks/${keySetId}`;
  const [first, again] = [jsonOf(await ask(url)), jsonOf(await ask(url))];
  expect(again).toEqual(first);
  expect(await keys()).toBe(1);

  const earlier = new Date(Date.now() - 25 * 3600_000);
  await api.db.ltiKeys.updateMany({ keySetId }, { createdAt: earlier });
  await removeUnusedKeySets(api.db);
  expect(await keys()).toBe(1);
  expect((await send('DELETE', `${path}/${id}`, headers)).status).toBe(204);
  expect((await create()).status).toBe(201);
  await removeUnusedKeySets(api.db);
  expect(await keys()).toBe(0);
  await api.db.ltiRegistrations.updateMany({ organizationId: organization._id }, { expiresAt: earlier });
  expect((await create()).status).toBe(201);
});

describe('a platform', () => {
  test('is approved, changed and removed by its organization only', async () => {
    const { organization, headers } = await buildOrganization(api);
    const { headers: stranger } = await buildOrganization(api);
    const fields = { ...newPlatform(), organizationId: organization._id, tokenAudience: null, name: null };
    const { _id } = await createPlatform(api.db, { ...fields, status: 'pending' });
    const path = `/api/platforms/${_id}`;
    const approval = { status: 'active', addDeploymentIds: ['2'], name: 'Moodle' };
    for (const [method, json] of [['GET'], ['PATCH', approval], ['DELETE']] as const)
      expectError(await send(method, path, stranger, json), 404, 'Platform not found');
    expect(jsonOf(await send('GET', path, headers))).toMatchObject({ status: 'pending', onOneSite: true });
    expect(jsonOf(await send('PATCH', path, headers, approval))).toMatchObject({
      status: 'active',
      deploymentIds: ['1', '2'],
      name: 'Moodle',
    });
    expect((await send('PATCH', path, headers, { jwksUrl: 'http://platform.example/jwks' })).status).toBe(
      422,
    );
    expect((await send('DELETE', path, headers)).status).toBe(204);
    expectError(await send('GET', path, headers), 404, 'Platform not found');
  });

  test('that has registered itself with another organization’s client takes none of its deployments', async () => {
    const { headers } = await buildOrganization(api);
    const { organization: hostile, headers: stranger } = await buildOrganization(api);
    const platform = newPlatform();
    const claim = { ...platform, organizationId: hostile._id, tokenAudience: null, name: null };
    const pending = [];
    for (const id of ['1', '2']) {
      const fields = { ...claim, deploymentIds: [id], status: 'pending' as const };
      pending.push(await createPlatform(api.db, fields));
      await expect(createPlatform(api.db, fields)).rejects.toMatchObject({ code: 'CONFLICT' });
    }
    const { id } = await addPlatform(headers, platform);
    const changed = await send('PATCH', `/api/platforms/${id}`, headers, { addDeploymentIds: ['2'] });
    expect(jsonOf(changed)).toMatchObject({ deploymentIds: ['1', '2'] });
    for (const { _id } of pending) {
      expect((await send('PATCH', `/api/platforms/${_id}`, stranger, { status: 'active' })).status).toBe(409);
      await expect(changePlatform(api.db, _id, { status: 'active' })).rejects.toMatchObject({
        code: 'CONFLICT',
      });
    }
  });

  test('whose client another organization has, or that all customers share, is left to the operator', async () => {
    const { organization, headers } = await buildOrganization(api);
    const { headers: stranger } = await buildOrganization(api);
    const platform = newPlatform();
    await addPlatform(headers, platform);
    const operator =
      'Only the operator can connect this platform, because organizations share its issuer and client id';
    const claim = { ...platform, deploymentIds: ['2'] };
    expectError(await send('POST', '/api/platforms', stranger, claim), 409, operator);
    const blackboard = newPlatform('https://blackboard.com');
    expectError(await send('POST', '/api/platforms', headers, blackboard), 409, operator);
    const fields = { ...blackboard, organizationId: organization._id, tokenAudience: null, name: null };
    const { _id } = await createPlatform(api.db, { ...fields, status: 'active' });
    const path = `/api/platforms/${_id}`;
    for (const change of [
      { addDeploymentIds: ['2'] },
      { anyDeployment: true },
      { tokenUrl: platform.tokenUrl },
    ])
      expectError(await send('PATCH', path, headers, change), 409, operator);
    expect((await send('PATCH', path, headers, { name: 'Blackboard' })).status).toBe(200);
  });

  test('is listed in pages, the newest first', async () => {
    const { headers } = await buildOrganization(api);
    const added = [await addPlatform(headers), await addPlatform(headers), await addPlatform(headers)];
    const first = jsonOf(await send('GET', '/api/platforms?limit=2', headers)) as {
      platforms: Platform[];
      nextCursor: string;
    };
    const second = jsonOf(
      await send('GET', `/api/platforms?cursor=${first.nextCursor}`, headers),
    ) as typeof first;
    const ids = [...first.platforms, ...second.platforms].map(({ id }) => id);
    expect(ids.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
    expect(second.nextCursor).toBeNull();
  });
});

describe('grades', () => {
  async function buildGrades() {
    const { organization, headers } = await buildOrganization(api);
    const { id: platformId } = await addPlatform(headers);
    const learner = { organizationId: organization._id, platformId, lessonId: randomUUID(), contextId: null };
    const ids = [];
    for (const ltiUserId of ['a', 'b', 'c']) {
      const { _id } = await findOrCreateScore(api.db, { ...learner, ltiUserId, linkId: randomUUID() });
      ids.push(_id);
    }
    const at = new Date();
    const failure = { at, since: at, reason: 'not_authorized', status: 403, body: 'no scope' };
    const wanted = { scoreGiven: 1, scoreMaximum: 2, finishedAt: at, revision: 1 };
    await api.db.ltiScores.updateMany({ platformId }, { state: 'failed', wanted, failure, tries: 3 });
    return { headers, platformId, ids };
  }

  test('that failed are listed with their cause, and sent again or dismissed in bulk', async () => {
    const { headers, platformId, ids } = await buildGrades();
    const list = async (query: string) =>
      (jsonOf(await send('GET', `/api/grades?${query}`, headers)) as { grades: { id: string }[] }).grades;
    const failed = await list(`state=failed&platformId=${platformId}`);
    expect(failed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(failed[0]).toMatchObject({ failure: { reason: 'not_authorized', status: 403 }, tries: 3 });
    expect(await list('ltiUserId=b')).toHaveLength(1);

    const [one = ''] = ids;
    const dismissed = await send('POST', '/api/grades/dismiss', headers, { ids: [one] });
    expect(jsonOf(dismissed)).toEqual({ changed: 1, more: false });
    expectError(
      await send('POST', '/api/grades/dismiss', headers, { ids: [one] }),
      409,
      `Score ${one} has not failed: it is idle.`,
    );
    const resent = await send('POST', '/api/grades/resend', headers, { failed: true, platformId });
    expect(jsonOf(resent)).toEqual({ changed: 2, more: false });
    expect(await list('state=waiting')).toHaveLength(2);
    expect((await send('POST', '/api/grades/resend', headers, {})).status).toBe(422);
  });

  test('of another organization are neither listed nor changed', async () => {
    const { platformId, ids } = await buildGrades();
    const { headers } = await buildOrganization(api);
    expect(jsonOf(await send('GET', `/api/grades?platformId=${platformId}`, headers))).toMatchObject({
      grades: [],
    });
    const [one = ''] = ids;
    for (const action of ['resend', 'dismiss']) {
      const path = `/api/grades/${action}`;
      expectError(await send('POST', path, headers, { ids: [one] }), 404, `There is no score ${one}.`);
      expect(jsonOf(await send('POST', path, headers, { failed: true, platformId }))).toMatchObject({
        changed: 0,
      });
    }
    expect(await api.db.ltiScores.countDocuments({ platformId, state: 'failed' })).toBe(3);
  });
});

describe('launches', () => {
  const lab = useStarted(
    () => startLaunchLab(),
    (started) => started.close(),
  );

  test('are shown with their platform: the last accepted one, and the codes of rejected ones', async () => {
    const shown = async () =>
      jsonOf(await ask(`${lab.address}/api/platforms/${lab.platform._id}`, { headers: lab.headers }));
    expect(await shown()).toMatchObject({ lastLaunchAt: null, launchFaults: [] });
    await lab.launch({ link: lab.addLink() });
    expect(await shown()).toMatchObject({ lastLaunchAt: expect.any(String) as string, launchFaults: [] });
    await lab.harness.db.ltiPlatforms.updateOne({ _id: lab.platform._id }, { deploymentIds: ['another'] });
    for (const _twice of [1, 2]) await lab.launch({ link: lab.addLink() });
    expect(await shown()).toMatchObject({
      launchFaults: [{ code: 'unknown_deployment', at: expect.any(String) as string }],
    });
  });
});
