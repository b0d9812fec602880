import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { addLesson } from './lessons.ts';
import { buildUser, openSession } from '../accounts/users.ts';

let harness: Harness;
let address: string;
let organization: Organization;
let headers: { authorization: string };

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  ({ organization, headers } = await buildOrganization(harness));
});
afterAll(() => harness.close());

const askVersions = (lessonId: string, sent: Record<string, string> = headers) =>
  ask(`${address}/api/lessons/${lessonId}/versions`, { headers: sent });

test('all versions are listed, drafts included, the newest first', async () => {
  const { lessonId, versionIds } = await addLesson(harness, organization, [
    'unpublished',
    'published',
    'draft',
  ]);
  const answer = await askVersions(lessonId);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const [first, second, third] = versionIds;
  expect(jsonOf(answer)).toStrictEqual({
    versions: [
      { id: third, versionNumber: 3, status: 'draft', publishedAt: null },
      { id: second, versionNumber: 2, status: 'published', publishedAt: '2026-01-02T00:00:00.000Z' },
      { id: first, versionNumber: 1, status: 'unpublished', publishedAt: '2026-01-01T00:00:00.000Z' },
    ],
  });
});

test('a user with a session gets the same, and so does an id in capitals', async () => {
  const { lessonId } = await addLesson(harness, organization);
  const { user } = await buildUser(harness, { organization });
  const expected = jsonOf(await askVersions(lessonId));
  expect(jsonOf(await askVersions(lessonId, await openSession(address, user)))).toStrictEqual(expected);
  expect(jsonOf(await askVersions(lessonId.toUpperCase()))).toStrictEqual(expected);
});

test('an unknown, deleted or foreign lesson gets the same 404', async () => {
  const deleted = await addLesson(harness, organization, ['published']);
  await markLessonDeleted(harness.db, deleted.lessonId);
  const { organization: other } = await buildOrganization(harness);
  const foreign = await addLesson(harness, other, ['published']);
  const { user } = await buildUser(harness, { organization });
  const session = await openSession(address, user);
  for (const lessonId of [randomUUID(), deleted.lessonId, foreign.lessonId]) {
    for (const sent of [headers, session]) {
      const answer = await askVersions(lessonId, sent);
      expect(answer.status).toBe(404);
      expect(answer.body.toString()).toBe('{"error":"Lesson not found"}');
    }
  }
});

test("versions left by another organization's import under the same lesson id are not listed", async () => {
  const { lessonId, versionIds } = await addLesson(harness, organization, ['draft']);
  const { organization: other } = await buildOrganization(harness);
  const own = await harness.db.lessonVersions.findById(versionIds[0]).lean().exec();
  const left = { _id: randomUUID(), organizationId: other._id, versionNumber: 9, totalSteps: 99 };
  await harness.db.lessonVersions.create({ ...own, ...left, status: 'published', publishedAt: new Date() });
  expect(jsonOf(await askVersions(lessonId))).toMatchObject({ versions: [{ id: versionIds[0] }] });
  const { lessons } = jsonOf(await ask(`${address}/api/lessons`, { headers })) as {
    lessons: { id: string }[];
  };
  const listed = lessons.find(({ id }) => id === lessonId);
  expect(listed).toMatchObject({ status: 'draft', latestVersion: null, totalSteps: own?.totalSteps });
});

test.each(['1', 'null', '%00', '%7B%22$ne%22:null%7D', '11111111-1111-4111-8111-11111111111g'])(
  'the lesson id %s gets 422',
  async (lessonId) => {
    const answer = await askVersions(lessonId);
    expect({ status: answer.status, body: jsonOf(answer) }).toStrictEqual({
      status: 422,
      body: { error: 'Invalid lesson ID format' },
    });
  },
);

test('an invalid query gets 422, credentials are checked first, and other methods get 405', async () => {
  const path = `${address}/api/lessons/${randomUUID()}/versions`;
  const queried = await ask(`${path}?limit=1`, { headers });
  expect(queried.status).toBe(422);
  expect(jsonOf(queried)).toStrictEqual({ error: 'limit is not a known parameter' });
  expect((await askVersions('1', {})).status).toBe(401);
  const deleted = await ask(path, { method: 'DELETE', headers });
  expect(deleted.status).toBe(405);
  expect(deleted.headers.get('allow')).toBe('GET, HEAD');
});
