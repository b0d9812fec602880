import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { Player, publishLesson, useLesson } from './player-lessons.ts';
import { useApi } from '../support/use.ts';
import { testPepper } from '../support/harness.ts';

const api = useApi();
const version = useLesson(api);

/** The player of a new learner. */
const newPlayer = (played = version, learnerId: string = randomUUID()) =>
  new Player(api.url, played, buildLearnerToken(played, { learnerId }));
const newLaunch = (played = version) =>
  new Player(api.url, played, buildLaunchToken(played, { ltiUserId: randomUUID() }));

const answer = (widgetId: string, given: unknown, claimed: object = {}) => ({
  items: [{ widgetId, answer: given, ...claimed }],
});

describe('before the first write', () => {
  test('a learner is at the first step, has not started, and has no record', async () => {
    const [learners, users] = [api.db.embedProgress, api.db.ltiProgress];
    const before = [await learners.countDocuments(), await users.countDocuments()];
    const start = { currentSectionIndex: 0, currentStepIndex: 0, progressData: null, variableState: null };
    const nothing = {
      revision: 0,
      versionId: version._id,
      status: 'not_started',
      score: null,
      startedAt: null,
    };
    expect(await newPlayer().read()).toMatchObject({ ...start, ...nothing, items: null, maxScore: 3 });
    expect(await newLaunch().read()).toMatchObject({ ...start, ...nothing, maxScore: 100 });
    expect([await learners.countDocuments(), await users.countDocuments()]).toEqual(before);
  });

  test('the response has the fields of the record, revision and versionId', async () => {
    const record = ['lessonId', 'status', 'score', 'maxScore', 'currentSectionIndex', 'currentStepIndex'];
    const rest = ['progressData', 'variableState', 'startedAt', 'completedAt', 'lastActivityAt'];
    const session = [...record, ...rest, 'revision', 'attempt', 'versionId'];
    const embed = ['learnerId', 'totalSteps', 'items', 'userAttributes'];
    const lti = ['ltiUserId', 'platformId', 'contextId', 'courseId', 'items'];
    const namesOf = (of: object) => Object.keys(of).toSorted();
    expect(namesOf(await newPlayer().read())).toEqual([...session, ...embed].toSorted());
    expect(namesOf(await newPlayer().write())).toEqual([...session, ...embed].toSorted());
    expect(namesOf(await newLaunch().read())).toEqual([...session, ...lti].toSorted());
    expect(namesOf(await newLaunch().write())).toEqual([...session, ...lti].toSorted());
  });
});

describe('a write', () => {
  test('returns the record with its next revision, and later reads return the same', async () => {
    const player = newPlayer();
    const looked = await player.write();
    expect(looked).toMatchObject({ revision: 1, status: 'not_started', startedAt: null });
    const went = await player.write({ revision: 1, currentStepIndex: 1, progressData: { a: 1 } });
    expect(went).toMatchObject({ revision: 2, status: 'in_progress', progressData: { a: 1 } });
    expect(await player.read()).toStrictEqual(went);
  });

  test('keeps omitted fields, and clears null ones', async () => {
    const player = newPlayer();
    await player.write({ progressData: { a: 1 }, variableState: { b: 2 }, ...answer('dial', 1) });
    const kept = await player.write({ revision: 1 });
    expect(kept).toMatchObject({ progressData: { a: 1 }, variableState: { b: 2 }, items: [{ answer: 1 }] });
    const cleared = await player.write({ revision: 2, progressData: null, variableState: {} });
    expect(cleared).toMatchObject({ progressData: null, variableState: {}, items: [{ answer: 1 }] });
  });

  test("cannot claim points for a core widget; integrators read the server's score", async () => {
    const learnerId = randomUUID();
    const player = newPlayer(version, learnerId);
    await player.write({ ...answer('q2', ['a'], { score: 1000, maxScore: 1000 }) });
    await player.write({ revision: 1, ...answer('heading', null, { score: 5, maxScore: 5 }) });
    await player.write({ revision: 2, ...answer('q3', ['b']) });
    const url = `${api.url}/api/public/lessons/${version.lessonId}/progress/${learnerId}`;
    expect(jsonOf(await ask(url, { headers: api.headers }))).toMatchObject({
      score: 1,
      maxScore: 3,
      items: [
        { widgetId: 'q2', score: 0, maxScore: 2 },
        { widgetId: 'heading', score: null, maxScore: null },
        { widgetId: 'q3', score: 1, maxScore: 1 },
      ],
    });
  });

  test('with an empty answer uses no try, and the response says so', async () => {
    const player = newPlayer();
    const skipped = await player.write(answer('q2', []));
    expect(skipped).toMatchObject({ items: [{ widgetId: 'q2', answer: [], tries: 0 }] });
    const tried = await player.write({ revision: 1, ...answer('q2', ['a']) });
    expect(tried.items).toMatchObject([{ answer: ['a'] }]);
    expect(tried.items).not.toMatchObject([{ tries: expect.anything() as number }]);
  });

  test('completes on the last step, and completion survives a restart', async () => {
    const player = newPlayer();
    const early = await player.tell({ completed: true });
    expectError(early, 422, 'completed is accepted on the last step only');
    const done = await player.write({ currentSectionIndex: 1, completed: true });
    expect(done).toMatchObject({ revision: 1, status: 'completed' });
    const again = await player.write({ revision: 1, restart: true });
    expect(again).toMatchObject({ status: 'completed', completedAt: done.completedAt, items: null });
  });

  test.each<[error: string, fields: object]>([
    ['Request body has an unknown field "status"', { status: 'completed' }],
    ['Request body has an unknown field "learnerId"', { learnerId: 'other' }],
    ['currentSectionIndex must be between 0 and 1, not 2', { currentSectionIndex: 2 }],
    ['items[0].score must be at most maxScore', answer('dial', 7, { score: 5, maxScore: 4 })],
    ['items[0].widgetId "x" is not a widget of the version', answer('x', 1)],
  ])('gets 422 with %s, and nothing is stored', async (error, fields) => {
    const player = newPlayer();
    expectError(await player.tell(fields), 422, error);
    expect(await player.read()).toMatchObject({ revision: 0 });
  });

  test.each(['', 'null', '[]', '{', '"x"'])('with the body %s gets 422', async (body) => {
    expect((await newPlayer().send(body)).status).toBe(422);
  });

  test('may have 1 MiB, and gets 413 above that', async () => {
    const player = newPlayer();
    const place = { versionId: version._id, revision: 0, currentSectionIndex: 0, currentStepIndex: 0 };
    const body = JSON.stringify({ ...place, progressData: { a: '' } });
    const largest = body.replace('""', `"${'x'.repeat(1024 ** 2 - body.length)}"`);
    expectError(await player.send(`${largest} `), 413, 'Request body must be at most 1048576 bytes');
    expect((await player.send(largest)).status).toBe(200);
  });
});

describe("the record's owner", () => {
  test("each token reads and writes only its own learner's record", async () => {
    const [one, two] = [newPlayer(), newPlayer()];
    await one.write({ progressData: { of: 'one' } });
    expect(await two.read()).toMatchObject({ revision: 0, progressData: null });
    await two.write({ progressData: { of: 'two' } });
    expect(await one.read()).toMatchObject({ revision: 1, progressData: { of: 'one' } });
  });

  test('learners with the same id in two organizations and two lessons have separate records', async () => {
    const stranger = await buildOrganization(api);
    const lessons = [
      version,
      await publishLesson(api, api.organization),
      await publishLesson(api, stranger.organization),
    ];
    for (const lesson of lessons)
      expect(await newPlayer(lesson, 'namesake').write()).toMatchObject({ revision: 1 });
  });

  test('a launch token writes only the LTI record, an embed token only the embed record', async () => {
    const counts = () =>
      Promise.all([api.db.embedProgress.countDocuments(), api.db.ltiProgress.countDocuments()]);
    const [embed, lti] = await counts();
    await newLaunch().write();
    expect(await counts()).toEqual([embed, lti + 1]);
    await newPlayer().write();
    expect(await counts()).toEqual([embed + 1, lti + 1]);
  });
});

describe('an unauthorized caller', () => {
  const urlOf = (lessonId: string, query: string) =>
    `${api.url}/api/public/lessons/${lessonId}/session${query}`;

  test('gets the same errors as from player-data, for reading and writing', async () => {
    for (const method of ['GET', 'POST']) {
      const rejection = (lessonId: string, query: string) => ask(urlOf(lessonId, query), { method });
      expectError(await rejection('x', ''), 400, 'Invalid lesson ID');
      const failed = 'Token verification failed: Malformed token';
      expectError(await rejection(version.lessonId, '?token=x'), 401, failed);
      const wrongLesson = 'Token does not grant access to this lesson';
      const token = buildLearnerToken(version);
      expectError(await rejection(randomUUID(), `?token=${token}`), 403, wrongLesson);
    }
  });

  test('is one with a revoked token, or with one for a deleted lesson', async () => {
    const lesson = await publishLesson(api, api.organization);
    const player = newPlayer(lesson);
    await player.write();
    await deleteLesson(api.db, lesson.lessonId);
    const denied = 'Lesson not found or access denied';
    expectError(await player.ask(), 404, denied);
    expectError(await player.tell({ revision: 1 }), 404, denied);

    const { organizationId, lessonId } = lesson;
    await revokeTokens(api.db, testPepper, { organizationId, lessonId, learnerId: null }, new Date());
    expectError(await player.tell({ revision: 1 }), 401, 'Token verification failed: Token revoked');
  });

  test("is never one because of the page's origin", async () => {
    const requested = { 'access-control-request-method': 'POST', origin: 'https://lms.example' };
    const preflight = await ask(urlOf(version.lessonId, ''), { method: 'OPTIONS', headers: requested });
    const refused = await ask(urlOf('x', ''), { method: 'POST', headers: { origin: 'https://lms.example' } });
    expect([preflight.status, refused.status]).toEqual([204, 400]);
    for (const { headers: sent } of [preflight, refused]) {
      expect(sent.get('access-control-allow-origin')).toBe('*');
      expect(sent.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
      expect(sent.get('access-control-allow-headers')).toBe('Content-Type');
    }
  });

  test('gets 405 with the allowed methods for others', async () => {
    const refused = await ask(urlOf(version.lessonId, ''), { method: 'PUT' });
    expectError(refused, 405, 'PUT is not allowed here');
    expect(refused.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });
});
