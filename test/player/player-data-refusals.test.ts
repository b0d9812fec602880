import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { ask, expectError } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { publishLesson, useLesson } from './player-lessons.ts';
import { useApi } from '../support/use.ts';

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
const foreignSecret = [{ kid: 'new', secret: 'another long secret' }];

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

test.each(['x', '1', '%00', '%ff', `${randomUUID()}x`, '..%2fx', `{${randomUUID()}}`])(
  'the lesson id %s gets 400',
  async (lessonId) => {
    expectRejection(await load(lessonId, `?token=${buildLearnerToken(version)}`), 400, 'Invalid lesson ID');
  },
);

test('a token that is missing, empty or given twice gets 400', async () => {
  const token = buildLearnerToken(version);
  for (const query of ['', '?', '?token=', '?token', `?Token=${token}`, `?token=${token}&token=${token}`])
    expectRejection(await load(version.lessonId, query), 400, 'token is required');
});

test.each(['include_metadata', 'validate_playability'])(
  '%s accepts only true and false, once',
  async (name) => {
    const values = [
      '',
      '=',
      '=1',
      '=yes',
      '=TRUE',
      '=true%20',
      '=null',
      `=true&${name}=false`,
      `=true&${name}=true`,
    ];
    for (const value of values) {
      const query = `?token=${buildLearnerToken(version)}&${name}${value}`;
      expectRejection(await load(version.lessonId, query), 400, `${name} must be true or false`);
    }
  },
);

describe('an invalid token gets 401 with the reason', () => {
  test.each<[reason: string, what: string, token: () => string]>([
    ['Token expired', 'expired', expiredToken],
    [
      'Invalid signature',
      'of another secret',
      () =>
        signEmbedToken(
          foreignSecret,
          { ...version, versionId: null, learnerId: 'l', userAttributes: '{}' },
          60,
        ).token,
    ],
    ['Invalid signature', 'without its signature', () => buildLearnerToken(version).replace(/[^.]+$/, '')],
    ['Malformed token', 'no token', () => 'a.b.c'],
    ['Malformed token', 'with spaces', () => `%20${buildLearnerToken(version)}`],
    ['Malformed token', 'of NUL', () => '%00'],
    ['Malformed token', 'of API credentials', () => api.headers.authorization.slice('Bearer '.length)],
  ])('%s: %s', async (reason, _what, token) => {
    const answer = await load(version.lessonId, `?token=${token()}`);
    expectRejection(answer, 401, `Token verification failed: ${reason}`);
  });

  test('Signing secret not configured', async () => {
    const off = await api.startApi({ LECTERN_SIGNING_SECRETS: 'none' });
    const path = `/api/public/lessons/${version.lessonId}/player-data?token=${buildLearnerToken(version)}`;
    const error = 'Token verification failed: Signing secret not configured';
    expectRejection(await ask(off + path), 401, error);
  });

  test('credentials, cookies and headers do not replace a token', async () => {
    const token = buildLearnerToken(version);
    for (const sent of [api.headers, { authorization: `Bearer ${token}` }, { cookie: `token=${token}` }]) {
      const answer = await ask(urlOf(version.lessonId, ''), { headers: sent });
      expectRejection(answer, 400, 'token is required');
    }
  });
});

describe('revoked tokens get 401', () => {
  const revoked = 'Token verification failed: Token revoked';
  const statusOf = async ({ lessonId }: { lessonId: string }, token: string) => {
    const answer = await load(lessonId, `?token=${token}`);
    if (answer.status !== 200) expectRejection(answer, 401, revoked);
    return answer.status;
  };
  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);
  /**
   * Revokes up to one second ago: a revocation up to now would not cover a token signed in the
   * next second.
   */
  const inAMinute = () => secondsAgo(-60);
  const any = { lessonId: null, learnerId: null };

  test('of a lesson, and of no other lesson', async () => {
    const [mine, other] = [await publish(), await publish()];
    const { organizationId, lessonId } = mine;
    await revokeTokens(api.db, { organizationId, lessonId, learnerId: null }, inAMinute());
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(401);
    expect(await statusOf(mine, buildLaunchToken(mine))).toBe(401);
    expect(await statusOf(other, buildLearnerToken(other))).toBe(200);
  });

  test('of a learner in every lesson, and of no other learner', async () => {
    const other = await publish();
    const { organizationId } = version;
    await revokeTokens(api.db, { organizationId, lessonId: null, learnerId: 'gone' }, inAMinute());
    for (const played of [version, other]) {
      expect(await statusOf(played, buildLearnerToken(played, { learnerId: 'gone' }))).toBe(401);
      expect(await statusOf(played, buildLearnerToken(played, { learnerId: 'Gone' }))).toBe(200);
    }
    expect(await statusOf(version, buildLaunchToken(version, { ltiUserId: 'gone' }))).toBe(401);
  });

  test('of a learner in one lesson', async () => {
    const other = await publish();
    const { organizationId, lessonId } = version;
    await revokeTokens(api.db, { organizationId, lessonId, learnerId: 'here' }, inAMinute());
    expect(await statusOf(version, buildLearnerToken(version, { learnerId: 'here' }))).toBe(401);
    expect(await statusOf(version, buildLearnerToken(version, { learnerId: 'there' }))).toBe(200);
    expect(await statusOf(other, buildLearnerToken(other, { learnerId: 'here' }))).toBe(200);
  });

  test('of an api.organization, and of no other organization', async () => {
    const [{ organization: closed }, { organization: open }] = [
      await buildOrganization(api),
      await buildOrganization(api),
    ];
    const [mine, other] = [await publishLesson(api, closed), await publishLesson(api, open)];
    await revokeTokens(api.db, { organizationId: closed._id, ...any }, inAMinute());
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(401);
    expect(await statusOf(other, buildLearnerToken(other))).toBe(200);
  });

  test('up to the time of the revocation; a later one is valid', async () => {
    const { organization: own } = await buildOrganization(api);
    const mine = await publishLesson(api, own);
    const organizationId = own._id;
    await revokeTokens(api.db, { organizationId, ...any }, secondsAgo(2));
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(200);
    await revokeTokens(api.db, { organizationId, ...any }, inAMinute());
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(401);
    await revokeTokens(api.db, { organizationId, ...any }, secondsAgo(60));
    expect(await statusOf(mine, buildLearnerToken(mine))).toBe(401);
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

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s gets 405 with the allowed methods', async (method) => {
  const answer = await ask(urlOf(version.lessonId, ''), { method });
  expectError(answer, 405, `${method} is not allowed here`);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expectOpen(answer);
});
