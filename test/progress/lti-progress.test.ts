import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createPlatform, removePlatform } from '../../shared/models/lti-platform.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { Player, publishLesson, useLesson } from '../player/player-lessons.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
const version = useLesson(api);

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;
const nothingFound = 'No progress found for this learner and lesson';

type Launch = Parameters<typeof buildLaunchToken>[1];

const playerOf = (launch: Launch, played = version) =>
  new Player(api.url, played, buildLaunchToken(played, launch));

const pathOf = (ltiUserId: string, query: Record<string, string>, lessonId = version.lessonId) =>
  `/api/public/lessons/${lessonId}/lti-progress/${ltiUserId}?${new URLSearchParams(query).toString()}`;

const progressOf = (ltiUserId: string, query: Record<string, string> = { platformId: 'platform-1' }) =>
  ask(api.url + pathOf(ltiUserId, query), { headers: api.headers });

const answerOf = (widgetId: string, answer: unknown) => ({ items: [{ widgetId, answer }] });

describe('the record', () => {
  test('has exactly the documented fields before the first write, with null for unset values', async () => {
    await playerOf({ ltiUserId: 'looked' }).write();
    const answer = await progressOf('looked');
    expect(jsonOf(answer)).toStrictEqual({
      lessonId: version.lessonId,
      ltiUserId: 'looked',
      platformId: 'platform-1',
      contextId: 'context-1',
      courseId: uuid,
      status: 'not_started',
      score: null,
      maxScore: 100,
      currentSectionIndex: 0,
      currentStepIndex: 0,
      progressData: null,
      variableState: null,
      startedAt: null,
      completedAt: null,
      lastActivityAt: iso,
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('has scores out of 100', async () => {
    const player = playerOf({ ltiUserId: 'scored' });
    await player.write({ currentStepIndex: 1, ...answerOf('q2', ['b']) });
    expect(jsonOf(await progressOf('scored'))).toMatchObject({ score: 66.6667, maxScore: 100 });
  });
});

describe('in several contexts', () => {
  test('each has a separate record, found by its contextId', async () => {
    const contexts = ['a', 'b/ä', '{"$ne":1}'];
    for (const [index, contextId] of contexts.entries()) {
      const place = { currentStepIndex: index % 2, progressData: { contextId } };
      await playerOf({ ltiUserId: 'several', contextId }).write(place);
    }
    for (const contextId of contexts) {
      const answer = await progressOf('several', { platformId: 'platform-1', contextId });
      expect(jsonOf(answer)).toMatchObject({ contextId, progressData: { contextId } });
    }
    const unknown = await progressOf('several', { platformId: 'platform-1', contextId: 'c' });
    expectError(unknown, 404, nothingFound);
  });

  test('without a contextId returns the last active record', async () => {
    const [first, second] = [
      playerOf({ ltiUserId: 'active', contextId: 'first' }),
      playerOf({ ltiUserId: 'active', contextId: null }),
    ];
    const { lastActivityAt } = await first.write();
    await waitFor('the next millisecond', () => Date.now() > Date.parse(String(lastActivityAt)));
    const later = await second.write();
    expect(jsonOf(await progressOf('active'))).toMatchObject({ contextId: null, courseId: uuid });
    await waitFor('the next millisecond', () => Date.now() > Date.parse(String(later.lastActivityAt)));
    await first.write();
    expect(jsonOf(await progressOf('active'))).toMatchObject({ contextId: 'first' });
  });

  test('the courses differ, and all users and lessons of a context share one', async () => {
    const other = await publishLesson(api, api.organization);
    const courseOf = async (launch: Launch, played = version) =>
      (await playerOf({ ltiUserId: randomUUID(), ...launch }, played).write()).courseId;
    const course = await courseOf({ contextId: 'shared' });
    expect(await courseOf({ contextId: 'shared' })).toBe(course);
    expect(await courseOf({ contextId: 'shared' }, other)).toBe(course);
    const others = [
      await courseOf({ contextId: 'another' }),
      await courseOf({ contextId: null }),
      await courseOf({ contextId: 'shared', platformId: 'platform-2' }),
    ];
    expect(new Set([course, ...others]).size).toBe(4);
    expect(await courseOf({ contextId: null })).toBe(others[1]);
  });

  test('concurrent launches create a course once', async () => {
    const launches = Array.from({ length: 4 }, (_, index) => ({
      ltiUserId: `many-${index}`,
      contextId: 'at once',
    }));
    const sessions = await Promise.all(launches.map((launch) => playerOf(launch).write()));
    expect(new Set(sessions.map(({ courseId }) => courseId)).size).toBe(1);
    expect(await api.db.courses.countDocuments({ contextId: 'at once' })).toBe(1);
  });
});

test('LTI users and learners with the same id have separate records', async () => {
  await playerOf({ ltiUserId: 'twin' }).write({ progressData: { of: 'user' } });
  await new Player(api.url, version, buildLearnerToken(version, { learnerId: 'twin' })).write({
    progressData: { of: 'learner' },
  });
  expect(jsonOf(await progressOf('twin'))).toMatchObject({ progressData: { of: 'user' } });
});

test('every record that is missing or of another organization gets the same 404', async () => {
  await playerOf({ ltiUserId: 'mine' }).write();
  const query = { platformId: 'platform-1' };
  const stranger = await buildOrganization(api);
  const deleted = await publishLesson(api, api.organization);
  await playerOf({ ltiUserId: 'mine' }, deleted).write();
  await deleteLesson(api.db, deleted.lessonId);
  for (const answer of [
    await progressOf('unknown'),
    await progressOf('mine', { platformId: 'platform-2' }),
    await progressOf('mine', { ...query, contextId: 'context-2' }),
    await ask(api.url + pathOf('mine', query, randomUUID()), { headers: api.headers }),
    await ask(api.url + pathOf('mine', query, deleted.lessonId), { headers: api.headers }),
    await ask(api.url + pathOf('mine', query), { headers: stranger.headers }),
  ]) {
    expectError(answer, 404, nothingFound);
  }
  expect((await progressOf('mine')).status).toBe(200);
});

test("platform ids are case-insensitive, and a removed platform's records stay readable", async () => {
  const platform = await createPlatform(api.db, {
    ...{ organizationId: api.organization._id, issuer: 'https://lms.example', clientId: randomUUID() },
    ...{ deploymentIds: ['1'], authUrl: 'https://lms.example/auth', tokenUrl: 'https://lms.example/token' },
    ...{ jwksUrl: 'https://lms.example/keys', tokenAudience: null, name: null, status: 'active' },
  });
  await playerOf({ ltiUserId: 'moved', platformId: platform._id }).write();
  const asked = () => progressOf('moved', { platformId: platform._id.toUpperCase() });
  const before = jsonOf(await asked());
  expect(before).toMatchObject({ platformId: platform._id, ltiUserId: 'moved' });
  await removePlatform(api.db, platform._id);
  expect(jsonOf(await asked())).toEqual(before);
});

describe('an invalid request gets 422 for its first error, in the order lesson, user, platform, context', () => {
  const charset = 'must be 1 to 255 characters without control characters';
  test.each<[error: string, path: () => string]>([
    ['Invalid lesson ID format', () => pathOf('%00', {}, 'x')],
    [`ltiUserId ${charset}`, () => pathOf('%00', {})],
    [`ltiUserId ${charset}`, () => pathOf('x'.repeat(256), {})],
    ['platformId is required', () => pathOf('user', { platformId: '', contextId: '\0' })],
    [`platformId ${charset}`, () => pathOf('user', { platformId: 'a\n' })],
    [`contextId ${charset}`, () => pathOf('user', { platformId: 'p', contextId: 'x'.repeat(256) })],
  ])('%s', async (error, path) => {
    expectError(await ask(api.url + path(), { headers: api.headers }), 422, error);
  });
});
