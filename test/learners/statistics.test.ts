import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { issueApiKey } from '../../shared/models/api-key.ts';
import {
  claimStatistics,
  findStatistics,
  forgetStatistics,
  saveStatistics,
} from '../../shared/models/lesson-statistics.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { answerTo, startOfTests, storeLearners } from './build-learners.ts';

interface Statistics {
  statistics: {
    learners: object;
    scores: { learners: number }[];
    steps: object[];
    items: { learners: number; cronbachAlpha: number; questions: Record<string, unknown>[] } | null;
  } | null;
}

const api = useApi({}, { worker: true });
let version: LessonVersion;
let reader: { authorization: string };

/** Requests statistics until a worker has counted. */
async function readStatistics({ lessonId }: LessonVersion, headers: Record<string, string> = api.headers) {
  // Each request for old counts has them counted again.
  const answer = await waitFor('the counts', async () => {
    const got = await ask(`${api.url}/api/lessons/${lessonId}/statistics`, { headers });
    return got.status === 200 ? got : null;
  });
  return (jsonOf(answer) as Statistics).statistics;
}

const finishedAt = new Date(startOfTests);

/** A learner who finished; answers `q2` for 2 points and `q3` for 1, if any. */
function finished(q2: string[], q3?: string[]) {
  const points = [q2.includes('b') ? 2 : 0, q3?.includes('b') === true ? 1 : 0] as const;
  const score = points[0] + points[1];
  return {
    ...{ status: 'completed' as const, completedAt: finishedAt, score, maxScore: 3 },
    finished: { at: finishedAt, score, maxScore: 3, isCurrent: true },
    items: [
      answerTo('q2', q2, { score: points[0], maxScore: 2 }),
      ...(q3 === undefined ? [] : [answerTo('q3', q3, { stepId: 's3', score: points[1], maxScore: 1 })]),
    ],
  };
}

beforeAll(async () => {
  version = await publishLesson(api, api.organization);
  const key = await issueApiKey(api.db, testPepper, {
    ...{ organizationId: api.organization._id, label: null, expiresAt: null, scopes: ['read'] },
  });
  reader = { authorization: `Bearer ${key.publicKey}.${key.secretKey}` };
  await storeLearners(api.db, version, [
    finished(['b'], ['b']),
    { ...finished(['b'], ['b']), ltiUserId: 'user', stepTimes: [500, 10_000, 4000] },
    { ...finished(['b'], ['a']), stepTimes: [1000, 20_000, 4000] },
    { ...finished(['a'], ['b']), stepTimes: [0, 60_000, 4000] },
    { ...finished(['a']), stepTimes: [1000, 14_400_000, 4000] },
    { ...finished(['b']), finished: { at: finishedAt, score: 2, maxScore: 3, isCurrent: false } },
    { stepId: 's2', score: 0, maxScore: 3, stepTimes: [3000, 30_000] },
    { status: 'not_started', startedAt: null },
  ]);
});

test('statistics count learners, scores, steps and answers of embed and LTI learners', async () => {
  const found = await readStatistics(version);
  expect(found?.learners).toEqual({ total: 8, notStarted: 1, inProgress: 1, completed: 6 });
  expect(found?.scores.map(({ learners }) => learners)).toEqual([2, 0, 0, 1, 0, 0, 2, 0, 0, 2]);
  expect(found?.steps).toEqual([
    // The middle two of the four who spent time on it took a second.
    { stepId: 's1', reached: 8, share: 1, medianSeconds: 1 },
    { stepId: 's2', reached: 7, share: 0.875, medianSeconds: expect.closeTo(30, -0.6) as number },
    { stepId: 's3', reached: 6, share: 0.75, medianSeconds: 4 },
  ]);
  // Four learners had time on the first and the last step.
  expect((await readStatistics(version, reader))?.steps).toMatchObject([
    { medianSeconds: null },
    { medianSeconds: expect.any(Number) as number },
    { medianSeconds: null },
  ]);
  const { items } = found ?? {};
  expect(items?.learners).toBe(5);
  expect(items?.questions).toMatchObject([
    {
      ...{ stepId: 's2', widgetId: 'q2', learners: 5, maxScore: 2, facility: 60, flags: [] },
      choices: [
        { id: 'a', isCorrect: false, learners: 2, share: 0.4, meanTotal: 0.5 },
        { id: 'b', isCorrect: true, learners: 3, share: 0.6, meanTotal: 2.6667 },
      ],
    },
    // Two learners who finished have no right answer: one without an answer counts with no points.
    { stepId: 's3', widgetId: 'q3', learners: 5, maxScore: 1, facility: 60 },
  ]);
});

describe('for fewer than five learners', () => {
  test('only keys that may read learners get statistics', async () => {
    const small = await publishLesson(api, api.organization);
    await storeLearners(api.db, small, [finished(['b']), finished(['b']), {}, {}]);
    expect((await readStatistics(small))?.learners).toMatchObject({ total: 4 });
    expect(await readStatistics(small, reader)).toBeNull();
  });

  test('who finished the lesson, keys without that scope get no item analysis', async () => {
    const small = await publishLesson(api, api.organization);
    await storeLearners(api.db, small, [...Array.from({ length: 4 }, () => finished(['b'])), {}]);
    expect((await readStatistics(small))?.items?.learners).toBe(4);
    const limited = await readStatistics(small, reader);
    expect(limited?.learners).toMatchObject({ total: 5 });
    expect(limited?.items).toBeNull();
  });
});

test('a lesson without a published version, and an unknown one, get 404', async () => {
  const draft = await publishLesson(api, api.organization, { publish: false });
  const of = (lessonId: string, query = '') =>
    ask(`${api.url}/api/lessons/${lessonId}/statistics${query}`, { headers: api.headers });
  expectError(await of(draft.lessonId), 404, 'Version not found');
  expectError(await of(randomUUID()), 404, 'Lesson not found');
  expectError(await of(version.lessonId, '?page=1'), 422, 'page is not a known parameter');
});

test('counts that are some minutes old are returned, and then replaced', async () => {
  const other = await publishLesson(api, api.organization);
  await storeLearners(api.db, other, [{}]);
  expect((await readStatistics(other))?.learners).toMatchObject({ total: 1 });
  await storeLearners(api.db, other, [{ learnerId: 'later' }]);
  expect((await readStatistics(other))?.learners).toMatchObject({ total: 1 });
  await api.db.lessonStatistics.updateOne({ _id: other._id }, { 'counted.at': new Date(0) });
  expect((await readStatistics(other))?.learners).toMatchObject({ total: 1 });
  await expect.poll(async () => (await readStatistics(other))?.learners).toMatchObject({ total: 2 });
});

test('counts that were begun before learners were erased are not stored', async () => {
  const { db } = api;
  const claimed = { _id: randomUUID(), organizationId: api.organization._id, lessonId: randomUUID() };
  const leasedUntil = (ms: number) => ({ ...claimed, dueAt: new Date(Date.now() + ms), counted: null });
  const before = leasedUntil(600_000);
  await db.lessonStatistics.create(before);
  await forgetStatistics(db, [claimed.lessonId]);
  // Another worker counts by now.
  const after = leasedUntil(601_000);
  await db.lessonStatistics.create(after);
  const counts = { at: new Date(), durationMs: 1, all: 'null', ofMany: 'null' };
  await saveStatistics(db, before, counts);
  expect((await findStatistics(db, claimed._id))?.counted).toBeNull();
  await saveStatistics(db, after, counts);
  expect((await findStatistics(db, claimed._id))?.counted).not.toBeNull();
});

test('organizations take turns', async () => {
  const { db } = api;
  const later = new Date(Date.now() + 3_600_000);
  const [one, other] = ['00000001', '00000002'];
  for (const organizationId of [one, one, other])
    await db.lessonStatistics.create({
      _id: randomUUID(),
      organizationId,
      lessonId: randomUUID(),
      dueAt: later,
    });
  const turns: (string | undefined)[] = [];
  for (let last = ''; turns.length < 3; turns.push(last))
    last = (await claimStatistics(db, last, later.getTime()))?.organizationId ?? '';
  expect(turns).toEqual([one, other, one]);
});
