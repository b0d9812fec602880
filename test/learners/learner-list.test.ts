import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { Player, publishLesson } from '../player/player-lessons.ts';
import { buildLaunchToken, buildLearnerToken } from '../support/factories.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { startOfTests, storeLearners } from './build-learners.ts';
import { saveResourceLink } from '../../shared/models/lti-resource-link.ts';

type Listed = Record<string, string | number | null> & { source: string; lastActivityAt: string };

const api = useApi();
const platformId = randomUUID();
/** Learners who differ in every filter, some of them at the same time. */
let version: LessonVersion;
let newer: LessonVersion;

const get = (path: string, headers: Record<string, string> = {}, lessonId = version.lessonId) =>
  ask(`${api.url}/api/lessons/${lessonId}/${path}`, { headers: { ...api.headers, ...headers } });
const list = async (query = '', lessonId = version.lessonId) =>
  jsonOf(await get(`learners?${query}`, {}, lessonId)) as { learners: Listed[]; nextCursor: string | null };
const namesOf = (learners: Listed[]) =>
  learners.map(({ learnerId, ltiUserId }) => String(learnerId ?? ltiUserId));

beforeAll(async () => {
  version = await publishLesson(api, api.organization);
  newer = await publishLesson(api, api.organization, { lessonId: version.lessonId });
  const at = (hours: number) => ({ lastActivityAt: new Date(startOfTests + hours * 3_600_000) });
  await storeLearners(api.db, version, [
    { learnerId: 'began', status: 'not_started', startedAt: null, ...at(0) },
    { learnerId: 'played', ...at(1) },
    { ltiUserId: 'launched', ...at(1) },
    { ltiUserId: 'elsewhere', platformId, contextId: 'course', ...at(1) },
    { learnerId: 'finished', status: 'completed', completedAt: new Date(startOfTests), ...at(2) },
    { learnerId: 'updated', versionId: newer._id, ...at(3) },
  ]);
});

test('each learner is listed as GET progress and GET lti-progress return the record', async () => {
  const played = await publishLesson(api, api.organization);
  const { lessonId } = played;
  const token = { platformId, ltiUserId: 'user', contextId: null };
  for (const player of [
    new Player(api.url, played, buildLearnerToken(played, { learnerId: 'learner' })),
    new Player(api.url, played, buildLaunchToken(played, token)),
  ]) {
    const answered = { currentStepIndex: 1, items: [{ widgetId: 'q2', answer: ['b'] }] };
    await player.write(answered);
    await player.write({ currentSectionIndex: 1, completed: true });
  }
  const { learners } = await list('', lessonId);
  const publicLesson = `${api.url}/api/public/lessons/${lessonId}`;
  const records = [
    await ask(`${publicLesson}/progress/learner`, { headers: api.headers }),
    await ask(`${publicLesson}/lti-progress/user?platformId=${platformId}`, { headers: api.headers }),
  ].map((answer) => jsonOf(answer) as Record<string, unknown>);
  expect(learners.map(({ source }) => source)).toEqual(['embed', 'lti']);
  for (const [index, learner] of learners.entries()) {
    const { percent, versionId, ...fields } = learner;
    expect({ ...records[index], source: learner.source }).toMatchObject(fields);
    expect({ percent, versionId }).toEqual({ percent: 66.6667, versionId: played._id });
  }
});

test.each([
  ['', ['began', 'played', 'launched', 'elsewhere', 'finished', 'updated']],
  ['status=in_progress', ['played', 'launched', 'elsewhere', 'updated']],
  ['source=embed', ['began', 'played', 'finished', 'updated']],
  ['source=lti', ['launched', 'elsewhere']],
  [`platform=${platformId}`, ['elsewhere']],
  ['since=2026-03-01T13:00:00%2B01:00', ['finished', 'updated']],
  [() => `version=${newer._id}`, ['updated']],
  [() => `version=${version._id}&status=in_progress&source=embed`, ['played']],
] as [query: string | (() => string), names: string[]][])('%s selects %s', async (query, expected) => {
  const { learners } = await list(typeof query === 'string' ? query : query());
  expect(namesOf(learners).toSorted()).toEqual(expected.toSorted());
});

describe.each(['oldest', 'newest'])('pages with the %s first', (order) => {
  test.each([1, 4])('and %i learners each list every learner once, by last activity', async (limit) => {
    const seen: Listed[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page = await list(`order=${order}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
      expect(page.learners.length).toBeLessThanOrEqual(limit);
      seen.push(...page.learners);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual((await list(`order=${order}`)).learners);
    const times = seen.map(({ lastActivityAt }) => lastActivityAt);
    const sorted = times.toSorted();
    expect(times).toEqual(order === 'oldest' ? sorted : sorted.reverse());
    expect(new Set(namesOf(seen)).size).toBe(6);
  });
});

test('CSV and NDJSON have the same learners in the same order, by Accept and by name', async () => {
  const { learners } = await list('status=in_progress');
  for (const answer of [
    await get('learners.ndjson?status=in_progress'),
    await get('learners?status=in_progress', { accept: 'application/x-ndjson' }),
  ]) {
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="learners.ndjson"');
    const lines = answer.body.toString().trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(learners);
  }
  for (const answer of [
    await get('learners.csv?status=in_progress'),
    await get('learners?status=in_progress', { accept: 'text/csv' }),
  ]) {
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [header = '', ...rows] = answer.body.toString().trimEnd().split('\r\n');
    const columns = header.split(',');
    const expected = learners.map((learner) =>
      columns.map((column) => String(learner[column] ?? '')).join(','),
    );
    expect(rows).toEqual(expected);
  }
});

test.each([
  ['status=done', 'status must be one of not_started, in_progress, completed'],
  ['since=yesterday', 'since must be a date and time, such as 2027-01-31T12:00:00Z'],
  ['limit=1001', 'limit must be a whole number between 1 and 1000'],
  ['cursor=x', 'cursor is not valid'],
  ['version=1', 'version must be a UUID'],
  ['page=2', 'page is not a known parameter'],
])('%s gets 422', async (query, text) => {
  expectError(await get(`learners?${query}`), 422, text);
});

test('an unknown lesson gets 404 in every format', async () => {
  for (const path of ['learners', 'learners.csv', 'learners.ndjson', 'answers.csv'])
    expectError(await get(path, {}, randomUUID()), 404, 'Lesson not found');
});

test('the uses of a lesson are its learners of the last 30 days, and the links of its platforms', async () => {
  const { organization, db } = api;
  const version = await publishLesson(api, organization);
  const { lessonId } = version;
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);
  await storeLearners(db, version, [
    { lastActivityAt: daysAgo(1), status: 'completed' },
    { lastActivityAt: daysAgo(29), ltiUserId: 'ada' },
    { lastActivityAt: daysAgo(31) },
  ]);
  const platformId = randomUUID();
  const link = { platformId, deploymentId: '1', organizationId: organization._id, lessonId };
  const rest = { contextId: null, versionId: null, withoutColumn: false, scopes: [] };
  for (const [index, lastLaunchAt] of [daysAgo(3), daysAgo(2)].entries())
    await saveResourceLink(db, { ...link, ...rest, resourceLinkId: `link-${index}`, lastLaunchAt });
  const answer = await ask(`${api.url}/api/lessons/${lessonId}/uses`, { headers: api.headers });
  expect(jsonOf(answer)).toEqual({
    learners: { days: 30, active: 2, isMore: false },
    platforms: [
      // Its platform was removed.
      { platformId, name: null, issuer: null, links: 2, lastLaunchAt: expect.any(String) as string },
    ],
  });
});
