import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectError, expectFailure, unauthorized } from '../support/answers.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { apiRoutes } from './route-table.ts';

let harness: Harness;
let api: string;
let headers: { authorization: string };
let token: string;
let lessonId: string;

beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  const built = await buildOrganization(harness);
  headers = built.headers;
  const version = await publishLesson(harness, built.organization);
  lessonId = version.lessonId;
  token = buildLearnerToken(version);
});
afterAll(() => harness.close());

const id = randomUUID();

test.each([
  ['/api/lessons//versions/ID/export-zip', 'Invalid lesson ID'],
  ['/api/lessons/ID/versions//export-zip', 'Invalid version ID'],
  ['/api/lessons//versions//export-zip', 'Invalid lesson ID'],
  ['/api/lessons//versions/ID/export-manifest', 'Invalid lesson ID'],
  ['/api/lessons/ID/versions//export-status', 'Invalid version ID'],
])('an export with %s gets 400 "%s", only with valid credentials', async (path, message) => {
  const url = api + path.replaceAll('ID', id);
  expectFailure(await ask(url, { headers }), {
    status: 400,
    code: 'BAD_REQUEST',
    error: 'Bad Request',
    message,
  });
  expectFailure(await ask(url), unauthorized);
});

test.each([
  ['/api/public/lessons//player-data', 'Invalid lesson ID'],
  ['/api/public/lessons//session', 'Invalid lesson ID'],
  ['/api/public/lessons//content', 'Invalid lesson ID'],
  ['/api/public/lessons//media/ID', 'Invalid lesson ID'],
  ['/api/public/lessons/LESSON/media/', 'Invalid media ID'],
  ['/api/public/lessons//widgets/Heading.js', 'Invalid lesson ID'],
  ['/api/public/lessons/LESSON/widgets/', 'Widget file is required'],
])('a token endpoint with %s gets 400 "%s", readable by pages of every origin', async (path, message) => {
  const answer = await ask(`${api}${path.replace('ID', id).replace('LESSON', lessonId)}?token=${token}`);
  expectError(answer, 400, message);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
});

test.each([
  ['/api/public/lessons//progress/l', 'Invalid lesson ID format'],
  ['/api/public/lessons/ID/progress/', 'learnerId is required'],
  ['/api/public/lessons//lti-progress/u?platformId=p', 'Invalid lesson ID format'],
  ['/api/public/lessons/ID/lti-progress/?platformId=p', 'ltiUserId is required'],
  ['/api/lessons//versions', 'Invalid lesson ID format'],
])('progress and lists with %s get 422 "%s", only with valid credentials', async (path, message) => {
  const url = api + path.replace('ID', id);
  expectError(await ask(url, { headers }), 422, message);
  expectError(await ask(url), 401, 'Authentication failed');
});

describe('every endpoint with path parameters', () => {
  test('handles an empty parameter itself', async () => {
    const routes = apiRoutes().filter(({ path }) => path.includes(':'));
    expect(routes.length).toBeGreaterThan(15);
    for (const { method, path } of routes) {
      const names = path.match(/:\w+/g) ?? [];
      for (const empty of names) {
        const asked = path.replace(empty, '').replace(/:\w+/g, id);
        const answer = await ask(api + asked, { method, headers });
        expect({ method, asked, body: answer.body.toString() }).not.toMatchObject({
          body: expect.stringContaining('{"error":"Not found"}') as string,
        });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
      }
    }
  });

  test('an empty segment that is not a parameter makes the path unknown', async () => {
    for (const path of [
      `/api//lessons/${id}/versions`,
      `//api/lessons`,
      `/api/public/lessons/${id}//player-data`,
    ]) {
      expectError(await ask(api + path, { headers }), 404, 'Not found');
    }
  });
});
