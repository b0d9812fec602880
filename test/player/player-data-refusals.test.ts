import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { ask, expectError } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { publishLesson, useLesson } from './player-lessons.ts';
import { useApi } from '../support/use.ts';
import { testPepper } from '../support/harness.ts';

const api = useApi();
const version = useLesson(api);

const urlOf = (lessonId: string, query: string) =>
  `${api.url}/api/public/lessons/${lessonId}/player-data${query}`;
const load = (lessonId: string, query: string) => ask(urlOf(lessonId, query));

/** Asserts the error, and that pages of every origin may read it. */
function expectRejection(answer: Answer, status: number, error: string): void {
  expectError(answer, status, error);
  expectOpen(answer);
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

function expectOpen({ headers: sent }: Answer): void {
  const names = [...sent.keys()].filter((name) => name.startsWith('access-control-allow-'));
  expect(Object.fromEntries(names.map((name) => [name, sent.get(name)]))).toEqual({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, OPTIONS',
    'access-control-allow-headers': 'Content-Type',
  });
}

const publish = (content?: Parameters<typeof publishLesson>[2]) =>
  publishLesson(api, api.organization, content);
const expiredToken = () => buildLearnerToken(version, { seconds: -1 });

test('the first of several faults is reported: lesson id, token and query, token, path, lesson, playability', async () => {
  const unplayable = await publish({ sections: [] });
  const { lessonId } = version;
  const gone = buildLearnerToken({ organizationId: api.organization._id, lessonId: randomUUID() });
  const other = buildLearnerToken(unplayable);
  const ofOther = buildLearnerToken({ organizationId: randomUUID(), lessonId: unplayable.lessonId });
  const bad = '&include_metadata=1';

  expectRejection(await load('x', ''), 400, 'Invalid lesson ID');
  expectRejection(await load('x', `?token=${gone}${bad}`), 400, 'Invalid lesson ID');
  expectRejection(await load(lessonId, `?${bad}`), 400, 'token is required');
  expectRejection(await load(lessonId, `?token=x${bad}`), 400, 'include_metadata must be true or false');
  expectRejection(await load(randomUUID(), '?token=x'), 401, 'Token verification failed: Malformed token');
  expectRejection(
    await load(randomUUID(), `?token=${expiredToken()}`),
    401,
    'Token verification failed: Token expired',
  );
  const wrongLesson = 'Token does not grant access to this lesson';
  expectRejection(await load(lessonId, `?token=${gone}`), 403, wrongLesson);
  expectRejection(await load(lessonId, `?token=${other}`), 403, wrongLesson);
  const denied = 'Lesson not found or access denied';
  expectRejection(await load(unplayable.lessonId, `?token=${ofOther}`), 404, denied);
  const error = 'Lesson has validation errors that prevent playback';
  expectRejection(await load(unplayable.lessonId, `?token=${other}`), 422, error);
});

test('a missing, empty or repeated token and an invalid lesson id or option get 400', async () => {
  const token = buildLearnerToken(version);
  for (const lessonId of ['%00', '%ff', `${randomUUID()}x`, '..%2fx'])
    expectRejection(await load(lessonId, `?token=${token}`), 400, 'Invalid lesson ID');
  for (const query of ['', '?', '?token=', '?token', `?Token=${token}`, `?token=${token}&token=${token}`])
    expectRejection(await load(version.lessonId, query), 400, 'token is required');
  for (const name of ['include_metadata', 'validate_playability']) {
    for (const value of ['', '=', '=TRUE', '=true%20', `=true&${name}=true`]) {
      const query = `?token=${token}&${name}${value}`;
      expectRejection(await load(version.lessonId, query), 400, `${name} must be true or false`);
    }
  }
});

test('an invalid token gets 401 with the reason; credentials, cookies and headers do not replace it', async () => {
  const token = buildLearnerToken(version);
  const unauthorized = async (url: string, reason: string) =>
    expectRejection(await ask(url), 401, `Token verification failed: ${reason}`);
  const query = `?token=${token.replace(/[^.]+$/, '')}`;
  await unauthorized(urlOf(version.lessonId, query), 'Invalid signature');
  const [, credentials = ''] = api.headers.authorization.split(' ');
  await unauthorized(urlOf(version.lessonId, `?token=${credentials}`), 'Malformed token');
  const off = await api.startApi({ LECTERN_SIGNING_SECRETS: 'none' });
  const path = `/api/public/lessons/${version.lessonId}/player-data?token=${token}`;
  await unauthorized(off + path, 'Signing secret not configured');

  for (const headers of [api.headers, { authorization: `Bearer ${token}` }, { cookie: `token=${token}` }])
    expectRejection(await ask(urlOf(version.lessonId, ''), { headers }), 400, 'token is required');
});

describe('revoked tokens get 401', () => {
  const statusOf = async ({ lessonId }: { lessonId: string }, token: string) => {
    const answer = await load(lessonId, `?token=${token}`);
    if (answer.status !== 200) expectRejection(answer, 401, 'Token verification failed: Token revoked');
    return answer.status;
  };
  /** Revokes tokens signed until then, by default in a minute, so that tokens signed in this test are covered. */
  const revoke = (
    scope: { lessonId?: string; learnerId?: string; organizationId?: string },
    seconds = 60,
  ) => {
    const { organizationId = version.organizationId, lessonId = null, learnerId = null } = scope;
    const until = new Date(Date.now() + seconds * 1000);
    return revokeTokens(api.db, testPepper, { organizationId, lessonId, learnerId }, until);
  };

  test('for a lesson, but for no other lesson', async () => {
    const [mine, other] = [await publish(), await publish()];
    await revoke({ lessonId: mine.lessonId });
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(401);
    expect(await statusOf(mine, buildLaunchToken(mine))).toBe(401);
    expect(await statusOf(other, buildLearnerToken(other))).toBe(200);
  });

  test('for a learner in every lesson or in one, but for no other learner', async () => {
    const other = await publish();
    await revoke({ learnerId: 'gone' });
    for (const played of [version, other]) {
      expect(await statusOf(played, buildLearnerToken(played, { learnerId: 'gone' }))).toBe(401);
      expect(await statusOf(played, buildLearnerToken(played, { learnerId: 'Gone' }))).toBe(200);
    }
    expect(await statusOf(version, buildLaunchToken(version, { ltiUserId: 'gone' }))).toBe(401);

    await revoke({ lessonId: version.lessonId, learnerId: 'here' });
    expect(await statusOf(version, buildLearnerToken(version, { learnerId: 'here' }))).toBe(401);
    expect(await statusOf(version, buildLearnerToken(version, { learnerId: 'there' }))).toBe(200);
    expect(await statusOf(other, buildLearnerToken(other, { learnerId: 'here' }))).toBe(200);
  });

  test('for an organization and no other, up to the time of the latest revocation', async () => {
    const { organization } = await buildOrganization(api);
    const mine = await publishLesson(api, organization);
    const organizationId = organization._id;
    await revoke({ organizationId }, -2);
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(200);
    await revoke({ organizationId });
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(401);
    await revoke({ organizationId }, -60);
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(401);
    expect(await statusOf(version, buildLearnerToken(version))).toBe(200);
  });
});

test('a lesson that is deleted, unpublished or unknown gets 404 with the same message', async () => {
  const deleted = await publish();
  const draft = await publish({ publish: false });
  const missing = { organizationId: api.organization._id, lessonId: randomUUID() };
  const pinned = buildLearnerToken(version, { versionId: draft._id });
  await deleteLesson(api.db, deleted.lessonId);
  for (const { lessonId, organizationId } of [deleted, draft, missing]) {
    const token = buildLearnerToken({ lessonId, organizationId });
    expectRejection(await load(lessonId, `?token=${token}`), 404, 'Lesson not found or access denied');
  }
  expectRejection(await load(version.lessonId, `?token=${pinned}`), 404, 'Lesson not found or access denied');
});

test('pages of every origin get the CORS headers, on preflight without a token', async () => {
  const asked = { origin: 'https://lms.example', 'access-control-request-method': 'GET' };
  for (const lessonId of [version.lessonId, 'x']) {
    const answer = await ask(urlOf(lessonId, ''), { method: 'OPTIONS', headers: asked });
    expect({ status: answer.status, length: answer.body.length }).toEqual({ status: 204, length: 0 });
    expectOpen(answer);
  }
  const loaded = await load(version.lessonId, `?token=${buildLearnerToken(version)}`);
  expect(loaded.status).toBe(200);
  expectOpen(loaded);
});
