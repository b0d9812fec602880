import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOrganization, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectFailure, jsonOf, unauthorized } from '../support/answers.ts';
import { apiRoutes } from './route-table.ts';

let harness: Harness;
let address: string;
let headers: { authorization: string };

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  headers = (await buildOrganization(harness)).headers;
});
afterAll(() => harness.close());

const path = exportPath({ lessonId: randomUUID(), _id: randomUUID() });

test.each([
  '/api',
  '/api/lesson',
  '/favicon.png',
  '/health',
  `${path}/more`,
  `${path}x`,
  path.replace('export-zip', ''),
  '/API/LESSONS',
  '/admin/queues',
  '/admin/queues/api/queues',
])('the unknown path %s gets 404 with one field, with and without credentials', async (unknown) => {
  for (const options of [{}, { headers }, { method: 'POST', body: '{}' }]) {
    const answer = await ask(address + unknown, options);
    expect({ status: answer.status, body: jsonOf(answer) }).toEqual({
      status: 404,
      body: { error: 'Not found' },
    });
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('paths are case-sensitive, so that rules of a reverse proxy cannot be bypassed', async () => {
  for (const { method, path: known } of apiRoutes().filter(({ path }) => path !== '/')) {
    const changed = known
      .split('/')
      .map((part) => (part.startsWith(':') ? randomUUID() : part.toUpperCase()))
      .join('/');
    const answer = await ask(address + changed, { method, headers });
    expect({ changed, status: answer.status, body: jsonOf(answer) }).toEqual({
      changed,
      status: 404,
      body: { error: 'Not found' },
    });
  }
});

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

test.each(methods)(
  '%s on an export endpoint gets 405 as an export error, with the allowed methods',
  async (method) => {
    const answer = await ask(address + path, { method, headers });
    expectFailure(answer, {
      status: 405,
      code: 'METHOD_NOT_ALLOWED',
      error: 'Method Not Allowed',
      message: `${method} is not allowed here`,
    });
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  },
);

test('invalid credentials get 401 before a disallowed method gets 405', async () => {
  expectFailure(await ask(address + path, { method: 'POST' }), unauthorized);
});

test.each(['/health/live', '/health/ready'])('%s responds only to GET and HEAD', async (health) => {
  expect((await ask(address + health, { method: 'HEAD' })).status).toBe(200);
  for (const method of methods) {
    const answer = await ask(address + health, { method });
    expect({ status: answer.status, allow: answer.headers.get('allow'), body: jsonOf(answer) }).toEqual({
      status: 405,
      allow: 'GET, HEAD',
      body: { error: `${method} is not allowed here` },
    });
  }
});
