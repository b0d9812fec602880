import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { buildUser, openSession } from '../accounts/users.ts';
import { buildLearnerToken, exportPath } from '../support/factories.ts';
import { ask, expectError, expectFailure, unauthorized } from '../support/answers.ts';
import { useApi, useStarted } from '../support/use.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { apiRoutes } from './route-table.ts';

const api = useApi();
const lesson = useStarted(async () => {
  const version = await publishLesson(api, api.organization);
  return { id: version.lessonId, token: buildLearnerToken(version) };
});

const id = randomUUID();
const exported = exportPath({ lessonId: id, _id: id });

test.each([
  ...['/api', '/api/lesson', '/favicon.png', '/health', '/API/LESSONS'],
  ...['/admin/queues', '/admin/queues/api/queues'],
  ...[`${exported}/more`, `${exported}x`, exported.replace('export-zip', '')],
  // An empty segment that is no parameter.
  ...[`/api//lessons/${id}/versions`, '//api/lessons', `/api/public/lessons/${id}//player-data`],
])('the unknown path %s gets 404, with and without credentials', async (unknown) => {
  for (const options of [{}, { headers: api.headers }, { method: 'POST', body: '{}' }]) {
    expectError(await ask(api.url + unknown, options), 404, 'Not found');
  }
});

test('paths are case-sensitive, so that rules of a reverse proxy cannot be bypassed', async () => {
  // Responses to HEAD have no body.
  const routes = apiRoutes().filter(({ method, path }) => path !== '/' && method !== 'HEAD');
  for (const { method, path: known } of routes) {
    const parts = known.split('/').map((part) => (part.startsWith(':') ? id : part.toUpperCase()));
    expectError(await ask(api.url + parts.join('/'), { method, headers: api.headers }), 404, 'Not found');
  }
});

test.each([
  ['/api/lessons//versions/ID/export-zip', 'Invalid lesson ID'],
  ['/api/lessons/ID/versions//export-zip', 'Invalid version ID'],
  ['/api/lessons/ID/versions//export-status', 'Invalid version ID'],
])('an export with %s gets 400 "%s", only with valid credentials', async (path, message) => {
  const url = api.url + path.replaceAll('ID', id);
  const failure = { status: 400, code: 'BAD_REQUEST', error: 'Bad Request', message };
  expectFailure(await ask(url, { headers: api.headers }), failure);
  expectFailure(await ask(url), unauthorized);
});

test.each([
  ['/api/public/lessons//player-data', 'Invalid lesson ID'],
  ['/api/public/lessons/LESSON/media/', 'Invalid media ID'],
  ['/api/public/lessons/LESSON/widgets/', 'Widget file is required'],
])('a token endpoint with %s gets 400 "%s", readable by pages of every origin', async (path, message) => {
  const asked = path.replace('LESSON', lesson.id);
  const answer = await ask(`${api.url}${asked}?token=${lesson.token}`);
  expectError(answer, 400, message);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});

test.each([
  ['/api/public/lessons//progress/l', 'Invalid lesson ID format'],
  ['/api/public/lessons/ID/progress/', 'learnerId is required'],
  ['/api/public/lessons/ID/lti-progress/?platformId=p', 'ltiUserId is required'],
  ['/api/lessons//versions', 'Invalid lesson ID format'],
])('progress and lists with %s get 422 "%s", only with valid credentials', async (path, message) => {
  const url = api.url + path.replace('ID', id);
  expectError(await ask(url, { headers: api.headers }), 422, message);
  expectError(await ask(url), 401, 'Authentication failed');
});

test('every endpoint with path parameters rejects an empty one itself', async () => {
  const routes = apiRoutes().filter(({ path }) => path.includes(':'));
  expect(routes.length).toBeGreaterThan(15);
  for (const { method, path } of routes) {
    for (const empty of path.match(/:\w+/g) ?? []) {
      const asked = path.replace(empty, '').replace(/:\w+/g, id);
      const { status, body } = await ask(api.url + asked, { method, headers: api.headers });
      expect({ method, asked, status: Math.floor(status / 100) }).toEqual({ method, asked, status: 4 });
      expect({ method, asked, body: body.toString() }).not.toMatchObject({
        body: '{"error":"Not found","code":"NOT_FOUND"}',
      });
    }
  }
});

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

test('every endpoint rejects other methods with 405 and lists the methods of its path', async () => {
  const { user } = await buildUser(api, { organization: api.organization });
  const headers = { ...api.headers, ...(await openSession(api.url, user)) };
  for (const path of new Set(apiRoutes().map((route) => route.path))) {
    const own = new Set(apiRoutes().flatMap((route) => (route.path === path ? [route.method] : [])));
    if (own.has('GET')) own.add('HEAD');
    const method = own.has('PATCH') ? 'PUT' : 'PATCH';
    const answer = await ask(api.url + path.replace(/[:*]\w+/g, id), { method, headers });
    const allowed = (answer.headers.get('allow') ?? '').split(', ').filter((name) => name !== 'OPTIONS');
    expect({ path, status: answer.status, allowed: new Set(allowed) }).toEqual({
      path,
      status: 405,
      allowed: own,
    });
  }
});

test.each(['/health/live', '/health/ready'])('%s responds only to GET and HEAD', async (health) => {
  expect((await ask(api.url + health, { method: 'HEAD' })).status).toBe(200);
  for (const method of methods) {
    const answer = await ask(api.url + health, { method });
    expectError(answer, 405, `${method} is not allowed here`);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
  }
});
