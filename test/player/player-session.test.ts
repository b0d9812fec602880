import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { buildLaunchToken, buildLearnerToken } from '../support/factories.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { Player, publishLesson, useLesson } from './player-lessons.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
const version = useLesson(api);

/** The player of a new learner. */
const newPlayer = (played = version, learnerId: string = randomUUID()) =>
  new Player(api.url, played, buildLearnerToken(played, { learnerId }));
const newLaunch = (played = version) =>
  new Player(api.url, played, buildLaunchToken(played, { ltiUserId: randomUUID() }));

/** An answer to q2 in step s2, q3 in step s3 or the heading in step s1. */
const answer = (widgetId: string, given: unknown, claimed: object = {}) => ({
  items: [
    {
      stepId: widgetId === 'heading' ? 's1' : widgetId.replace('q', 's'),
      widgetId,
      answer: given,
      ...claimed,
    },
  ],
});

describe('before the first write', () => {
  test('a learner is at the first step, has not started, and has no record', async () => {
    const [learners, users] = [api.db.embedProgress, api.db.ltiProgress];
    const before = [await learners.countDocuments(), await users.countDocuments()];
    const start = { currentSectionIndex: 0, currentStepIndex: 0, progressData: null, variableState: null };
    const nothing = {
      attempt: 1,
      attemptCompleted: false,
      versionId: version._id,
      status: 'not_started',
      score: null,
      startedAt: null,
    };
    expect(await newPlayer().read()).toMatchObject({ ...start, ...nothing, items: null, maxScore: 3 });
    expect(await newLaunch().read()).toMatchObject({ ...start, ...nothing, maxScore: 100 });
    expect([await learners.countDocuments(), await users.countDocuments()]).toEqual(before);
  });
});

describe('a write', () => {
  test('returns the merged record, and later reads return the same', async () => {
    const player = newPlayer();
    const looked = await player.write();
    expect(looked).toMatchObject({ status: 'not_started', startedAt: null });
    const went = await player.write({ currentStepIndex: 1, progressData: { a: 1 } });
    expect(went).toMatchObject({ status: 'in_progress', progressData: { a: 1 } });
    expect(await player.read()).toStrictEqual(went);
  });

  test("cannot claim points for a core widget; integrators read the server's score", async () => {
    const learnerId = randomUUID();
    const player = newPlayer(version, learnerId);
    await player.write({ ...answer('q2', ['a'], { score: 1000, maxScore: 1000 }) });
    await player.write({ ...answer('heading', null, { score: 5, maxScore: 5 }) });
    await player.write({ ...answer('q3', ['b']) });
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
    const tried = await player.write({ ...answer('q2', ['a']) });
    expect(tried.items).toMatchObject([{ answer: ['a'] }]);
    expect(tried.items).not.toMatchObject([{ tries: expect.anything() as number }]);
  });

  test('completes at any step, and completion survives a restart', async () => {
    const player = newPlayer();
    const done = await player.write({ completed: true });
    expect(done).toMatchObject({ status: 'completed', attemptCompleted: true });
    const again = await player.write({ restart: true });
    expect(again).toMatchObject({ status: 'completed', completedAt: done.completedAt, items: null });
  });

  test.each<[error: string, fields: object]>([
    ['Request body has an unknown field "learnerId"', { learnerId: 'other' }],
    ['currentSectionIndex must be between 0 and 1, not 2', { currentSectionIndex: 2 }],
    [
      'stepTimes must have at most 5000 members',
      { stepTimes: Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`s${index}`, 1])) },
    ],
  ])('gets 422 with %s, and nothing is stored', async (error, fields) => {
    const player = newPlayer();
    expectError(await player.tell(fields), 422, error);
    expect(await player.read()).toMatchObject({ status: 'not_started' });
  });

  test('gets 413 if it takes long to parse', async () => {
    const answer = await newPlayer().tell({ progressData: { a: Array.from({ length: 60_000 }, () => []) } });
    const text =
      'Request body must have at most 60000 objects, arrays and members of objects, 100000 commas, and 1000 digits in a number';
    expectError(answer, 413, text);
  });

  test('may have 256 KiB, and gets 413 above that', async () => {
    const player = newPlayer();
    const place = { versionId: version._id, currentSectionIndex: 0, currentStepIndex: 0 };
    const body = JSON.stringify({ ...place, progressData: { a: '' } });
    const largest = body.replace('""', `"${'x'.repeat(256 * 1024 - body.length)}"`);
    expectError(await player.send(`${largest} `), 413, 'Request body must be at most 262144 bytes');
    expect((await player.send(largest)).status).toBe(200);
  });
});

describe("the record's owner", () => {
  test("each token reads and writes only its own learner's record", async () => {
    const [one, two] = [newPlayer(), newPlayer()];
    await one.write({ progressData: { of: 'one' } });
    expect(await two.read()).toMatchObject({ progressData: null });
    await two.write({ progressData: { of: 'two' } });
    expect(await one.read()).toMatchObject({ progressData: { of: 'one' } });
  });
});

describe('an unauthorized caller', () => {
  const urlOf = (lessonId: string, query: string) =>
    `${api.url}/api/public/lessons/${lessonId}/session${query}`;

  test('with the token of another lesson gets 403, for reading and writing', async () => {
    const url = urlOf(randomUUID(), `?token=${buildLearnerToken(version)}`);
    for (const method of ['GET', 'POST'])
      expectError(await ask(url, { method }), 403, 'Token does not grant access to this lesson');
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
});

test('answers stay with their questions when an edited package without ids is imported again', async () => {
  const question = (prompt: string, ...choices: string[]) => ({
    type: 'MultipleChoice',
    props: { prompt, choices: choices.map((html) => ({ html })), correct: ['Moon'] },
  });
  const matching = (...left: string[]) => ({
    type: 'Matching',
    props: { prompt: 'Match.', id: 'm', pairs: left.map((each) => ({ left: each, right: `${each}!` })) },
  });
  const publish = async (blocks: object[], lessonId?: string) => {
    const sections = [{ title: 'A', steps: [{ title: 'S', content: { content: blocks } }] }];
    return publishLesson(api, api.organization, { sections, ...(lessonId && { lessonId }) });
  };
  const blocksOf = async (played: typeof version) => {
    const token = buildLearnerToken(played);
    const data = await ask(`${api.url}/api/public/lessons/${played.lessonId}/player-data?token=${token}`);
    const { lesson } = jsonOf(data) as {
      lesson: { sections: { steps: { content: { content: Block[] } }[] }[] };
    };
    return lesson.sections[0]?.steps[0]?.content.content.map(({ props }) => props) ?? [];
  };
  interface Block {
    props: { id: string; prompt: string; correct: string[]; pairs: { id: string; left: string }[] };
  }
  const first = await publish([
    question('Who?', 'Sun', 'Moon'),
    question('Which?', 'Moon', 'Mars'),
    matching('a', 'b'),
  ]);
  const [who, which, pairs] = await blocksOf(first);
  const given = Object.fromEntries((pairs?.pairs ?? []).map(({ id }) => [id, id]));
  const learnerId = randomUUID();
  await newPlayer(first, learnerId).write({
    items: [
      { widgetId: who?.id, answer: who?.correct },
      { widgetId: which?.id, answer: which?.correct },
      { widgetId: pairs?.id, answer: given },
    ],
  });
  const second = await publish(
    [question('New?', 'Moon', 'Sun'), matching('c', 'b', 'a'), question('Which?', 'Moon', 'Mars')],
    first.lessonId,
  );
  const record = await newPlayer(second, learnerId).read();
  expect(record).toMatchObject({
    versionId: second._id,
    items: expect.arrayContaining([
      expect.objectContaining({ widgetId: which?.id, answer: which?.correct, score: 1 }),
      expect.objectContaining({ widgetId: pairs?.id, answer: given, score: 2, maxScore: 3 }),
    ]) as unknown,
  });
  const [added] = await blocksOf(second);
  expect(JSON.stringify(record.items)).not.toContain(`"${added?.id}"`);
});
