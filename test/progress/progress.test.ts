import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { ask, expectError, jsonOf, sendRaw, statusOf } from '../support/answers.ts';
import { Player, publishLesson, useLesson, rawMember } from '../player/player-lessons.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
const version = useLesson(api);

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const nothingFound = 'No progress found for this learner and lesson';

const pathOf = (learnerId: string, lessonId = version.lessonId) =>
  `/api/public/lessons/${lessonId}/progress/${learnerId}`;
const progressOf = (learnerId: string, of = api.headers) => ask(api.url + pathOf(learnerId), { headers: of });

const playerOf = (learnerId: string, userAttributes = '{}', played = version) =>
  new Player(api.url, played, buildLearnerToken(played, { learnerId, userAttributes }));

describe('the record', () => {
  test('has every documented field before the first write, with null for unset values', async () => {
    await playerOf('looked').write();
    const answer = await progressOf('looked');
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toStrictEqual({
      lessonId: version.lessonId,
      learnerId: 'looked',
      status: 'not_started',
      score: null,
      maxScore: 3,
      currentSectionIndex: 0,
      currentStepIndex: 0,
      totalSteps: 3,
      progressData: null,
      variableState: null,
      items: null,
      userAttributes: {},
      startedAt: null,
      completedAt: null,
      lastActivityAt: iso,
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('has the same fields, with values, once the learner has finished', async () => {
    const player = playerOf('finished', '{"group":"B"}');
    await player.write({ currentStepIndex: 1, items: [{ widgetId: 'q2', answer: ['b'] }] });
    await player.write({
      currentSectionIndex: 1,
      progressData: { seen: ['s1'] },
      variableState: { points: 2 },
      items: [{ widgetId: 'q3', answer: ['a'] }],
      completed: true,
    });
    const item = { widgetType: 'MultipleChoice', answeredAt: iso };
    expect(jsonOf(await progressOf('finished'))).toStrictEqual({
      lessonId: version.lessonId,
      learnerId: 'finished',
      status: 'completed',
      score: 2,
      maxScore: 3,
      currentSectionIndex: 1,
      currentStepIndex: 0,
      totalSteps: 3,
      progressData: { seen: ['s1'] },
      variableState: { points: 2 },
      items: [
        { ...item, widgetId: 'q2', stepId: 's2', answer: ['b'], score: 2, maxScore: 2 },
        { ...item, widgetId: 'q3', stepId: 's3', answer: ['a'], score: 0, maxScore: 1 },
      ],
      userAttributes: { group: 'B' },
      startedAt: iso,
      completedAt: iso,
      lastActivityAt: iso,
    });
  });

  test('returns JSON byte for byte: order of names, large numbers, odd names, depth, whitespace', async () => {
    const odd =
      '{ "b":1, "10":1.10, "2":12345678901234567890, "__proto__":{"$a.b":"\\u0000\\ud83d"}, "":null }';
    const deep = `{"a":${'['.repeat(190)}${']'.repeat(190)}}`;
    const place = '"currentSectionIndex":0,"currentStepIndex":1';
    const player = playerOf('bytes', odd);
    const sent = await player.send(
      `{"versionId":"${version._id}",${place},"progressData":${odd},"variableState":${deep},` +
        `"items":[{"stepId":"s3","widgetId":"dial","answer":${odd}}]}`,
    );
    expect(sent.status).toBe(200);
    for (const answer of [await progressOf('bytes'), await player.ask(), sent]) {
      expect(rawMember(answer, 'progressData', 'variableState')).toBe(odd);
      expect(rawMember(answer, 'variableState', 'items')).toBe(deep);
      expect(rawMember(answer, 'answer', 'score')).toBe(odd);
      expect(rawMember(answer, 'userAttributes', 'startedAt')).toBe(odd);
    }
  });

  test('and the session have the attributes of the token that was issued last, once it has written', async () => {
    await playerOf('attributes', '{"group":"A"}').write();
    await playerOf('attributes', '{"group":"B"}').write();
    const stored = { userAttributes: { group: 'B' } };
    expect(jsonOf(await progressOf('attributes'))).toMatchObject(stored);

    const reader = playerOf('attributes', '{"group":"C"}');
    expect(await reader.read()).toMatchObject(stored);
    expect(jsonOf(await progressOf('attributes'))).toMatchObject(stored);
    await reader.write();
    expect(jsonOf(await progressOf('attributes'))).toMatchObject({ userAttributes: { group: 'C' } });
  });

  test('is found by a lesson id in upper case, and returns the id in lower case', async () => {
    await playerOf('upper').write();
    const answer = await ask(api.url + pathOf('upper', version.lessonId.toUpperCase()), {
      headers: api.headers,
    });
    expect(jsonOf(answer)).toMatchObject({ lessonId: version.lessonId });
  });
});

test('a learner is found by any name, URL-encoded', async () => {
  const names = ['a/b?c#d&e=f+g', 'é 漢 😀 100%', '%2F', '"\\{$ne}', '😀'.repeat(255)];
  for (const learnerId of names) {
    await playerOf(learnerId).write();
    expect(jsonOf(await progressOf(encodeURIComponent(learnerId)))).toMatchObject({ learnerId });
  }
});

test.each(['.', '..'])(
  'a learner named %j is found by clients that can send that path',
  async (learnerId) => {
    await playerOf(learnerId).write();
    for (const encoded of [learnerId, learnerId.replaceAll('.', '%2e')]) {
      const lines = [`GET ${pathOf(encoded)} HTTP/1.1`, 'Host: x', 'Connection: close'];
      const raw = await sendRaw(
        api.url,
        [...lines, `Authorization: ${api.headers.authorization}`, '', ''].join('\r\n'),
      );
      expect(statusOf(raw)).toBe(200);
      expect(raw).toContain(`"learnerId":"${learnerId}"`);
    }
  },
);

test('learner ids differ by every character', async () => {
  await playerOf('Learner').write();
  for (const other of ['learner', 'Learner ', 'Learner%20', 'Learne', 'Le\u0301arner', '%4Cearnerx'])
    expectError(await progressOf(encodeURIComponent(other)), 404, nothingFound);
  expect((await progressOf('%4Cearner')).status).toBe(200);
});

test('concurrent requests each get the session of their learner in their lesson', async () => {
  const lessons = [version, await publishLesson(api, api.organization)];
  const players = lessons.flatMap((lesson) =>
    ['a', 'b', 'A', 'a\\', '["a"]'].map((learnerId) => playerOf(learnerId, '{}', lesson)),
  );
  for (const [index, player] of players.entries()) await player.write({ progressData: { index } });
  const sessions = await Promise.all([...players, ...players].map((player) => player.read()));
  const indexes = [...players.keys(), ...players.keys()];
  expect(sessions.map(({ progressData }) => progressData)).toEqual(indexes.map((index) => ({ index })));
});

test('every record that is missing or of another organization gets the same 404', async () => {
  await playerOf('mine').write();
  const stranger = await buildOrganization(api);
  const other = await publishLesson(api, api.organization);
  await playerOf('elsewhere', '{}', other).write();
  // Reading the session creates no record.
  expect(await playerOf('asked').read()).toMatchObject({ status: 'not_started' });
  const deleted = await publishLesson(api, api.organization);
  await playerOf('deleted', '{}', deleted).write();
  await deleteLesson(api.db, deleted.lessonId);
  for (const answer of [
    await progressOf('unknown'),
    await progressOf('%ff'),
    await progressOf('asked'),
    await progressOf('elsewhere'),
    await progressOf('mine', stranger.headers),
    await ask(api.url + pathOf('mine', randomUUID()), { headers: api.headers }),
    await ask(api.url + pathOf('deleted', deleted.lessonId), { headers: api.headers }),
  ])
    expectError(answer, 404, nothingFound);
  expect((await progressOf('mine')).status).toBe(200);
});

describe('an invalid request', () => {
  test('with an invalid lesson id or learner id gets 422', async () => {
    for (const lessonId of ['1', `${randomUUID()}x`, '%00', '%ff', '..%2f..']) {
      const answer = await ask(api.url + pathOf('learner', lessonId), { headers: api.headers });
      expectError(answer, 422, 'Invalid lesson ID format');
    }
    const error = 'learnerId must be 1 to 255 characters without control characters';
    for (const learnerId of ['%00', 'a%0Ab', 'x'.repeat(256), encodeURIComponent('😀'.repeat(256)), '%C2%85'])
      expectError(await progressOf(learnerId), 422, error);
  });
});
