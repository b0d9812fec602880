import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { installationLog, readAudit } from '../../shared/models/audit-entry.ts';
import type { AuditEntry } from '../../shared/models/audit-entry.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildPackage, buildVersion, exportPath, statusPath } from '../support/factories.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { openQueue } from '../exports/open-queue.ts';
import { useApi } from '../support/use.ts';
import type { Role } from '../../shared/accounts/permissions.ts';
import { beginSession, buildUser, quickHash } from '../accounts/users.ts';
import { waitFor } from '../support/wait-for.ts';

const username = 'operator';
const password = 'pass:wörd of an operator';
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const login = basic(`${username}:${password}`);
const queueName = 'exports-1.0.0-1';

const api = useApi(
  { ADMIN_USERNAME: username, ADMIN_PASSWORD: password, LOGIN_TRIES: '1000' },
  { worker: true },
);
let version: LessonVersion;

beforeAll(async () => {
  version = await buildVersion(api, api.organization, (await buildPackage({ slug: 'the-cell' })).path);
  expect((await ask(api.url + exportPath(version), { headers: api.headers })).status).toBe(200);
});

interface ShownJob {
  id: string;
  name: string;
  progress: unknown;
  data: object;
}

async function shownJobs(): Promise<ShownJob[]> {
  const answer = await ask(`${api.url}/admin/queues/api/queues?activeQueue=${queueName}&status=completed`, {
    headers: login,
  });
  return (jsonOf(answer) as { queues: [{ jobs: ShownJob[] }] }).queues[0].jobs;
}

test('without a configured login there is no board', async () => {
  const without = await api.startApi({ ADMIN_USERNAME: '', ADMIN_PASSWORD: '' });
  for (const path of ['', '/', '/api/queues', '/static/favicon.ico'])
    expect((await ask(`${without}/admin/queues${path}`, { headers: login })).status).toBe(404);
});

test('operators open the board with their session, also without a configured login; other users do not', async () => {
  const without = await api.startApi({ ADMIN_USERNAME: '', ADMIN_PASSWORD: '' });
  const sessionOf = async (role: Role) => {
    const { user } = await buildUser(api, { role, organization: api.organization, passwordHash: quickHash });
    return { user, headers: await beginSession(api, { user }) };
  };
  const [operator, admin] = [await sessionOf('operator'), await sessionOf('admin')];
  for (const url of [api.url, without]) {
    const board = `${url}/admin/queues`;
    expect((await ask(board, { headers: operator.headers })).status).toBe(200);
    expect((await ask(board, { headers: admin.headers })).status).toBe(url === without ? 404 : 401);
    const crossSite = { ...operator.headers, 'sec-fetch-site': 'cross-site' };
    const pause = `${board}/api/queues/${queueName}/pause`;
    expect((await ask(pause, { method: 'PUT', headers: crossSite })).status).toBe(403);
  }
  await waitFor('the entry', async () => {
    for await (const { action, actor } of readAudit(api.db, installationLog, {}))
      if (action === 'board.open' && actor.id === operator.user._id) return true;
    return false;
  });
});

test('operators see what doctor sees, what waits, and the room of the store', async () => {
  const { user } = await buildUser(api, { role: 'operator', passwordHash: quickHash });
  const headers = await beginSession(api, { user });
  const read = async (path: string) => jsonOf(await ask(`${api.url}/api/operator/${path}`, { headers }));
  expect(await read('health')).toMatchObject({
    ok: true,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: 'MongoDB', ok: true, message: 'all indexes exist' }),
      expect.objectContaining({ name: 'workers', ok: true, message: '1 running' }),
    ]) as object[],
  });
  expect(await read('queues')).toMatchObject({
    workers: 1,
    exports: { completed: 1, failed: 0 },
    grades: { waiting: 0, failed: 0 },
    board: '/admin/queues',
  });
  expect(await read('storage')).toMatchObject({ freeBytes: expect.any(Number) as number });
});

test.each<[string, Record<string, string>]>([
  ['no login', {}],
  ['a wrong password', basic(`${username}:wrong`)],
  ['a wrong name', basic(`root:${password}`)],
  ['no base64', { authorization: 'Basic %%%' }],
  ['another scheme', { authorization: login.authorization.replace('Basic', 'Bearer') }],
])('%s gets 401 with a challenge, on pages, files and data', async (_what, headers) => {
  for (const path of ['', '/api/queues', '/static/favicon.ico', '/nowhere']) {
    const answer = await ask(`${api.url}/admin/queues${path}`, { headers });
    expect({ status: answer.status, asks: answer.headers.get('www-authenticate') }).toEqual({
      status: 401,
      asks: 'Basic realm="Lectern", charset="UTF-8"',
    });
    expect(answer.body.toString()).toBe('Log in with ADMIN_USERNAME and ADMIN_PASSWORD.');
  }
});

test('API credentials are no login, and nothing changes without one', async () => {
  expect((await ask(`${api.url}/admin/queues`, { headers: api.headers })).status).toBe(401);
  const pause = `${api.url}/admin/queues/api/queues/${queueName}/pause`;
  expect((await ask(pause, { method: 'PUT' })).status).toBe(401);
});

test('the page names no foreign server, is not stored, and cannot be framed', async () => {
  const page = await ask(`${api.url}/admin/queues`, { headers: login });
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(page.body.toString()).not.toMatch(/https?:/);
});

test('the board shows a job by the name of its archive, with its progress and without secrets', async () => {
  const [job] = await shownJobs();
  const status = jsonOf(await ask(api.url + statusPath(version), { headers: api.headers })) as {
    progress: object;
  };
  expect(job).toMatchObject({
    id: expect.stringMatching(exportJobOf(version).key) as string,
    name: 'the-cell-v1.zip',
    progress: { progress: 100, ...status.progress },
  });
  const shown = ['key', 'lessonId', 'organizationId', 'profile', 'slug', 'versionId', 'versionNumber'];
  expect(Object.keys(job?.data ?? {}).sort()).toEqual(shown);
});

test.each<[string, Record<string, string>]>([
  ['of another site', { 'sec-fetch-site': 'cross-site' }],
  ['of another origin', { origin: 'https://evil.example' }],
])('a page %s cannot use the login of an operator (CSRF)', async (_what, headers) => {
  const queue = await openQueue(api);
  onTestFinished(() => queue.close());
  for (const [method, path] of [
    ['PUT', 'pause'],
    ['PUT', 'obliterate'],
    ['POST', 'add'],
    ['PATCH', 'x/priority'],
    ['DELETE', 'x'],
  ] as const) {
    const answer = await ask(`${api.url}/admin/queues/api/queues/${queueName}/${path}`, {
      method,
      headers: { ...login, ...headers },
    });
    expectError(answer, 403, 'Requests from other sites are not allowed');
  }
  expect(await queue.jobs.isPaused()).toBe(false);
});

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['of its own page in an older browser', { origin: 'own' }, {}],
  ['behind PUBLIC_URL', { origin: 'https://lectern.example' }, { PUBLIC_URL: 'https://lectern.example/' }],
])('requests %s pause and resume the queue', async (_what, given, settings) => {
  const queue = await openQueue(api);
  onTestFinished(() => queue.close());
  const at = await api.startApi(settings);
  const headers = { ...login, ...given, ...(given.origin === 'own' && { origin: at }) };
  for (const [path, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    const answer = await ask(`${at}/admin/queues/api/queues/${queueName}/${path}`, {
      method: 'PUT',
      headers,
    });
    expect(answer.status).toBe(200);
    expect(await queue.jobs.isPaused()).toBe(paused);
  }
});

test('wrong passwords are limited by IP address, and beyond the limit the right one is rejected too', async () => {
  const settings = {
    LOGIN_TRIES: '3',
    TRUST_PROXY: '1',
    REDIS_PREFIX: `${api.config.redisPrefix}-throttle`,
  };
  const [first, second] = [await api.startApi(settings), await api.startApi(settings)];
  const enter = async (at: string, client: string, headers: Record<string, string>) => {
    const answer = await ask(`${at}/admin/queues/api/queues`, {
      headers: { ...headers, 'x-forwarded-for': client },
    });
    return answer.status;
  };
  const wrong = basic(`${username}:wrong`);
  const [guesser, other] = ['192.0.2.1', '192.0.2.2'];
  // Requests without a login do not count, and a correct one resets the count.
  for (let count = 0; count < 5; count += 1) expect(await enter(first, guesser, {})).toBe(401);
  expect(await enter(first, guesser, wrong)).toBe(401);
  expect(await enter(second, guesser, wrong)).toBe(401);
  expect(await enter(first, guesser, login)).toBe(200);
  const guesses = await Promise.all(
    Array.from({ length: 8 }, (_, at) => enter(at % 2 ? first : second, guesser, wrong)),
  );
  expect(guesses.filter((status) => status === 401)).toHaveLength(3);
  expect(guesses.filter((status) => status === 429)).toHaveLength(5);
  expect(await enter(second, guesser, login)).toBe(429);
  expect(await enter(first, other, login)).toBe(200);
});

test('visits, wrong passwords and changes are in the audit log of the installation', async () => {
  const url = await api.startApi({ ADMIN_USERNAME: username, ADMIN_PASSWORD: password });
  const sent: (string | null)[] = [];
  const send = async (path: string, options: Parameters<typeof ask>[1]) => {
    sent.push((await ask(`${url}/admin/queues/api/queues${path}`, options)).headers.get('x-request-id'));
  };
  for (let request = 0; request < 3; request += 1) await send('', { headers: login });
  await send('', { headers: basic(`${username}:wrong`) });
  await send(`/${queueName}/pause`, { method: 'PUT', headers: login });
  const added = await waitFor('the entries', async () => {
    const entries = (await entriesOf()).filter(({ requestId }) => sent.includes(requestId));
    return entries.length >= 3 ? entries : undefined;
  });
  expect(added).toMatchObject([
    { action: 'board.open', actor: { type: 'operator', id: username }, ip: '127.0.0.1' },
    { action: 'board.reject' },
    {
      action: 'board.change',
      details: { method: 'PUT', path: `/admin/queues/api/queues/${queueName}/pause` },
    },
  ]);
});

async function entriesOf(): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of readAudit(api.db, installationLog, {})) entries.push(entry);
  return entries;
}
