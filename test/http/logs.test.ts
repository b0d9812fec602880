import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { release } from '../../shared/platform/paths.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness, testSigningSecrets } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf, sendRaw } from '../support/answers.ts';
import { startApiProcess } from '../support/api-process.ts';
import type { ApiProcess } from '../support/api-process.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { buildUser, openSession, postSession, quickHash, testPassword } from '../accounts/users.ts';

let harness: Harness;
let api: ApiProcess;
let address: string;
let version: LessonVersion;
let tenant: Awaited<ReturnType<typeof buildOrganization>>;

const adminPassword = 'the-password-of-an-operator';
const requests = () => api.log().filter((line) => line.msg === 'request');

/** An API process of its own with the most verbose log level. */
beforeAll(async () => {
  harness = await startHarness();
  tenant = await buildOrganization(harness);
  version = await buildVersion(harness, tenant.organization, (await buildPackage()).path);
  api = await startApiProcess(harness, {
    LOG_LEVEL: 'debug',
    ADMIN_USERNAME: 'operator',
    ADMIN_PASSWORD: adminPassword,
  });
  address = api.url;
});
afterAll(async () => {
  await api.end();
  await harness.close();
});

test('no secret from a request reaches the log', async () => {
  const secrets = {
    credentials: tenant.credentials,
    wrong: `lkp_${'A'.repeat(24)}.lks_${'B'.repeat(43)}`,
    malformed: 'malformed-credentials',
    token: 'a-token-in-a-query',
    signature: 'a-signature-in-a-query',
    cookie: 'a-session-in-a-cookie',
    password: adminPassword,
    wrongPassword: 'not-the-password',
    ofAddress: 'password-of-an-address',
    body: 'a-secret-in-a-body',
  };
  const paths = [exportPath(version), '/nowhere', '/admin/queues/api/queues'];
  const authorizations = [
    `Bearer ${secrets.credentials}`,
    `Bearer ${secrets.wrong}`,
    secrets.malformed,
    `Basic ${btoa(`operator:${secrets.password}`)}`,
    `Basic ${btoa(`operator:${secrets.wrongPassword}`)}`,
  ];
  for (const path of paths) {
    for (const authorization of authorizations) {
      const url = `${address}${path}?token=${secrets.token}&signature=${secrets.signature}`;
      const headers = {
        authorization,
        cookie: `session=${secrets.cookie}`,
        'content-type': 'application/json',
      };
      // The export request with valid credentials times out, because no worker runs.
      await ask(url, { headers, signal: AbortSignal.timeout(500) }).catch(() => undefined);
      await ask(url, { method: 'POST', headers, body: `{"password": "${secrets.body}` });
    }
  }
  await sendRaw(
    address,
    `GET http://user:${secrets.ofAddress}@127.0.0.1/health/live?token=${secrets.token} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  );
  const last = await ask(`${address}/last`);
  expect(last.status).toBe(404);
  await waitFor('the last request in the log', () => requests().some(({ path }) => path === '/last'));

  expect(requests().length).toBeGreaterThan(25);
  const output = api.output();
  const [, secretKey = ''] = secrets.credentials.split('.');
  expect(output).not.toContain(secretKey);
  expect(output).not.toContain('lks_');
  for (const secret of Object.values(secrets)) {
    expect(output).not.toContain(secret);
    expect(output).not.toContain(btoa(secret));
    expect(output).not.toContain(btoa(`operator:${secret}`));
  }
});

test('no secret of learners, users or the installation reaches the log', async () => {
  const { user } = await buildUser(harness, { passwordHash: quickHash });
  const wrongPassword = 'a-password-that-is-wrong';
  await postSession(address, { email: user.email, password: wrongPassword });
  const { cookie } = await openSession(address, user);
  await ask(`${address}/api/lessons`, { headers: { cookie } });
  const signed = await ask(`${address}/api/public/sign-token`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ lessonId: version.lessonId, learnerId: 'learner' }),
  });
  const { token } = jsonOf(signed) as { token: string };
  const lesson = `${address}/api/public/lessons/${version.lessonId}`;
  for (const name of ['player-data', 'session', 'widgets/Heading.js']) {
    await ask(`${lesson}/${name}?token=${token}`);
    await ask(`${lesson}/${name}?token=${token}x`);
  }
  for (const query of [`token=${token}`, `token=${token}x`]) {
    await ask(`${address}/embed/${version.lessonId}?${query}`);
  }
  const led = await ask(`${lesson}/widgets/Heading.js?token=${token}`);
  const location = new URL(led.headers.get('location') ?? '', address);
  await ask(location.href);
  const content = jsonOf(await ask(`${lesson}/content?token=${token}`)) as { base: string };
  await ask(`${address}${content.base}widgets/Heading.js`);
  const invitation = 'an-invitation-of-a-learning-platform';
  await ask(`${address}/lti/register/${invitation}?registration_token=${invitation}`);
  const noHttp = 'a-secret-in-what-is-no-http';
  await sendRaw(address, `GET /?token=${noHttp} HTTP/1.1\r\n: ${noHttp}\r\n\r\n`);
  await waitFor('the last line', () => api.log().some(({ msg }) => msg === 'request rejected'));

  expect([signed.status, led.status]).toEqual([200, 302]);
  const { LECTERN_ASSET_SECRET, LECTERN_COOKIE_SECRET, LECTERN_KEY_PEPPER } = harness.environment;
  const secrets = [
    ...[testPassword, wrongPassword, invitation, noHttp, token, String([...Buffer.from(noHttp)])],
    ...cookie.split(/[;=] ?/).filter((part) => part.length > 20),
    ...[...location.searchParams.values()].filter((value) => value.length > 20),
    ...content.base.split('/').slice(-2, -1),
    ...testSigningSecrets.map(({ secret }) => secret),
    ...[LECTERN_ASSET_SECRET, LECTERN_COOKIE_SECRET, LECTERN_KEY_PEPPER].map(String),
  ];
  expect(secrets.length).toBeGreaterThan(12);
  const output = api.output();
  for (const secret of secrets) expect(output).not.toContain(secret);
  // A token's signature alone would identify the token.
  expect(output).not.toContain(token.split('.')[2]);
});

test('no id of a learner reaches the log', async () => {
  const { headers } = tenant;
  const id = 'an-id-of-a-learner';
  const lesson = `/api/public/lessons/${version.lessonId}`;
  for (const path of [
    `${lesson}/progress/${id}`,
    `${lesson}/lti-progress/${id}?platformId=p`,
    `/api/learners/${id}?dryRun=true`,
    `/api//lti-learners//${id}/unknown?platformId=p`,
  ]) {
    await ask(address + path, { headers, method: 'DELETE' });
    await ask(address + path, { headers });
  }
  await ask(`${address}/end`);
  await waitFor('the last request in the log', () => requests().some(({ path }) => path === '/end'));
  expect(api.output()).not.toContain(id);
  expect(requests().some(({ path }) => path === '/api/learners/…')).toBe(true);
});

test('each request is logged once, with its id, method, path and status', async () => {
  const headers = { 'x-request-id': 'the-one-request' };
  await ask(`${address}/one?token=x`, { method: 'PUT', headers });
  await waitFor('the request in the log', () => requests().some(({ path }) => path === '/one'));
  expect(api.log().filter((line) => line.request === 'the-one-request' && line.msg === 'request')).toEqual([
    expect.objectContaining({ method: 'PUT', path: '/one', status: 404 }),
  ]);
});

test('the line of a request says who sent it, and why it was rejected', async () => {
  const [publicKey = ''] = tenant.credentials.split('.');
  const lineOf = async (id: string, path: string, headers: Record<string, string> = {}) => {
    await ask(address + path, { headers: { ...headers, 'x-request-id': id } });
    return waitFor('the line', () => requests().find(({ request }) => request === id));
  };
  const organization = tenant.organization._id;
  expect(await lineOf('with-key', '/api/lessons', tenant.headers)).toMatchObject({
    ...{ organization, key: publicKey, status: 200, release },
  });
  const wrong = `Bearer ${publicKey}.lks_${'B'.repeat(43)}`;
  const reason = 'The public key is unknown or the secret key is wrong';
  expect(await lineOf('wrong-secret', '/api/lessons', { authorization: wrong })).toMatchObject({
    ...{ key: publicKey, status: 401, code: 'UNAUTHORIZED', reason },
  });
  const claims = {
    organizationId: organization,
    lessonId: version.lessonId,
    versionId: null,
    learnerId: 'ada',
  };
  const { token } = signEmbedToken(testSigningSecrets, { ...claims, userAttributes: '{}' }, 60);
  const session = `/api/public/lessons/${version.lessonId}/session?token=`;
  const line = await lineOf('of-learner', session + token);
  expect(line).toMatchObject({ organization, status: 200, learner: expect.stringMatching(/^[\w-]{43}$/) });
  expect(await lineOf('no-token', `${session}x`)).toMatchObject({ status: 401, reason: 'Malformed token' });
});

test('a client that disconnects is logged as 499, and the API stops waiting for it', async () => {
  const queue = viewQueue(harness);
  await queue.jobs.drain();
  const leaving = new AbortController();
  const headers = { ...tenant.headers, 'x-request-id': 'the-impatient' };
  const asking = ask(address + exportPath(version), { headers, signal: leaving.signal });
  asking.catch(() => undefined);
  await waitFor('its job', async () => (await queue.jobs.getPrioritizedCount()) === 1);
  leaving.abort();
  const ofImpatient = () => api.log().filter((line) => line.request === 'the-impatient');
  await waitFor('both lines', () => ofImpatient().length === 2);
  expect(ofImpatient().map(({ msg, status }) => [msg, status])).toEqual(
    expect.arrayContaining([
      ['request', 499],
      ['the client disconnected', undefined],
    ]),
  );
});
