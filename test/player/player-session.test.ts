import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { Player, publishLesson, question, section, step } from './player-lessons.ts';

let harness: Harness;
let address: string;
let organization: Organization;
let headers: { authorization: string };
let version: LessonVersion;

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  ({ organization, headers } = await buildOrganization(harness));
  version = await publishLesson(harness, organization);
});
afterAll(() => harness.close());

/** The player of a new learner. */
const newPlayer = (played = version, learnerId: string = randomUUID()) =>
  new Player(address, played, buildLearnerToken(played, { learnerId }));
const newLaunch = (played = version) =>
  new Player(address, played, buildLaunchToken(played, { ltiUserId: randomUUID() }));

const answer = (widgetId: string, given: unknown, claimed: object = {}) => ({
  items: [{ widgetId, answer: given, ...claimed }],
});

describe('before the first write', () => {
  test('a learner is at the first step, has not started, and has no record', async () => {
    const [learners, users] = [harness.db.embedProgress, harness.db.ltiProgress];
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
    const url = `${address}/api/public/lessons/${version.lessonId}/progress/${learnerId}`;
    expect(jsonOf(await ask(url, { headers }))).toMatchObject({
      score: 1,
      maxScore: 3,
      items: [
        { widgetId: 'q2', score: 0, maxScore: 2 },
        { widgetId: 'heading', score: null, maxScore: null },
        { widgetId: 'q3', score: 1, maxScore: 1 },
      ],
    });
  });

  test("may report a custom widget's share of the points that the lesson declares", async () => {
    const dials = [
      { type: 'Dial', props: { id: 'dial', points: 5 } },
      { type: 'Dial', props: { id: 'other' } },
    ];
    const lesson = await publishLesson(harness, organization, {
      sections: [section('one', step('s1', question('q1', 5), ...dials))],
    });
    const player = newPlayer(lesson);
    expect(await player.read()).toMatchObject({ score: null, maxScore: 10 });
    const forged = { score: 1000, maxScore: 1000 };
    await player.write(answer('other', 7, forged));
    const written = await player.write({ revision: 1, ...answer('dial', 7, forged) });
    expect(written).toMatchObject({
      score: 5,
      maxScore: 10,
      items: [
        { widgetId: 'other', score: null, maxScore: null },
        { widgetId: 'dial', score: 5, maxScore: 5 },
      ],
    });
    const share = await player.write({ revision: 2, ...answer('dial', 7, { score: 1, maxScore: 4 }) });
    expect(share).toMatchObject({ score: 1.25, maxScore: 10 });
    const launch = newLaunch(lesson);
    expect(await launch.write(answer('dial', 7, forged))).toMatchObject({ score: 50, maxScore: 100 });
  });

  test('with more points for a custom widget than possible gets 422', async () => {
    const player = newPlayer();
    const tooMuch = await player.tell(answer('dial', 7, { score: 5, maxScore: 4 }));
    expectError(tooMuch, 422, 'items[0].score must be at most maxScore');
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

  test.each<[error: RegExp, what: string, fields: object]>([
    [/^Request body has an unknown field "status"$/, 'an unknown field', { status: 'completed' }],
    [/^revision must be a whole number/, 'no revision', { revision: undefined }],
    [/^versionId must be a UUID$/, 'no version', { versionId: undefined }],
    [/^writeId must be a UUID$/, 'an invalid writeId', { writeId: '1' }],
    [
      /^currentStepIndex must be between 0 and 0, not 1$/,
      'a step index out of range',
      { currentSectionIndex: 1, currentStepIndex: 1 },
    ],
    [
      /^currentSectionIndex must be between 0 and 1, not 2$/,
      'a section index out of range',
      { currentSectionIndex: 2 },
    ],
    [/^progressData must be an object or null$/, 'a list as state', { progressData: [] }],
    [/^items\[0\]\.widgetId "x" is no widget of the version$/, 'an unknown widget', answer('x', 1)],
    [/^items\[0\] has an unknown field "widgetType"$/, 'a type', answer('q2', 1, { widgetType: 'Dial' })],
  ])('gets 422 with %s: %s, and nothing is stored', async (error, _what, fields) => {
    const player = newPlayer();
    const refused = await player.tell(fields);
    expect(refused.status).toBe(422);
    expect(jsonOf(refused)).toEqual({ error: expect.stringMatching(error) as string });
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
    const stranger = await buildOrganization(harness);
    const lessons = [
      version,
      await publishLesson(harness, organization),
      await publishLesson(harness, stranger.organization),
    ];
    for (const lesson of lessons)
      expect(await newPlayer(lesson, 'namesake').write()).toMatchObject({ revision: 1 });
  });

  test('a launch token writes only the LTI record, an embed token only the embed record', async () => {
    const [learners, users] = [harness.db.embedProgress, harness.db.ltiProgress];
    const before = [await learners.countDocuments(), await users.countDocuments()] as const;
    await newLaunch().write();
    expect([await learners.countDocuments(), await users.countDocuments()]).toEqual([
      before[0],
      before[1] + 1,
    ]);
    await newPlayer().write();
    expect([await learners.countDocuments(), await users.countDocuments()]).toEqual([
      before[0] + 1,
      before[1] + 1,
    ]);
  });

  test('body fields that name another learner are rejected', async () => {
    const player = newPlayer();
    for (const name of ['learnerId', 'lessonId', 'organizationId', 'userAttributes', 'score'])
      expect((await player.tell({ [name]: 'other' })).status).toBe(422);
  });
});

describe('an unauthorized caller', () => {
  const urlOf = (lessonId: string, query: string) =>
    `${address}/api/public/lessons/${lessonId}/session${query}`;

  test('gets the same errors as from player-data: lesson id, token, the lesson of the token', async () => {
    const token = buildLearnerToken(version);
    for (const method of ['GET', 'POST']) {
      const refusal = (lessonId: string, query: string) => ask(urlOf(lessonId, query), { method });
      expectError(await refusal('x', ''), 400, 'Invalid lesson ID');
      expectError(await refusal(version.lessonId, ''), 400, 'token is required');
      const failed = 'Token verification failed:';
      expectError(await refusal(version.lessonId, '?token=x'), 401, `${failed} Malformed token`);
      const expired = buildLearnerToken(version, { seconds: -1 });
      expectError(await refusal(version.lessonId, `?token=${expired}`), 401, `${failed} Token expired`);
      const wrongLesson = 'Token does not grant access to this lesson';
      expectError(await refusal(randomUUID(), `?token=${token}`), 403, wrongLesson);
    }
  });

  test('is one with a revoked token, or with one for a deleted lesson', async () => {
    const lesson = await publishLesson(harness, organization);
    const player = newPlayer(lesson);
    await player.write();
    await deleteLesson(harness.db, lesson.lessonId);
    const denied = 'Lesson not found or access denied';
    expectError(await player.ask(), 404, denied);
    expectError(await player.tell({ revision: 1 }), 404, denied);

    const { organizationId, lessonId } = lesson;
    await revokeTokens(harness.db, { organizationId, lessonId, learnerId: null }, new Date());
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

  test.each(['PUT', 'PATCH', 'DELETE'])('gets 405 with the allowed methods for %s', async (method) => {
    const refused = await ask(urlOf(version.lessonId, ''), { method });
    expectError(refused, 405, `${method} is not allowed here`);
    expect(refused.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });
});
