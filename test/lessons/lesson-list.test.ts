import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { markLessonDeleted, saveLesson } from '../../shared/models/lesson.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, challengeOf, expectFailure, jsonOf, notFound } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { addLesson } from './lessons.ts';
import { buildUser, openSession } from '../accounts/users.ts';

let harness: Harness;
let address: string;
let organization: Organization;
let headers: { authorization: string };

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
});
afterAll(() => harness.close());
beforeEach(async () => {
  ({ organization, headers } = await buildOrganization(harness));
});

interface Page {
  lessons: { id: string; status: string }[];
  nextCursor: string | null;
}

const askList = (query = '', sent: Record<string, string> = headers) =>
  ask(`${address}/api/lessons${query}`, { headers: sent });

async function list(query = '', sent?: Record<string, string>): Promise<Page> {
  const answer = await askList(query, sent);
  expect(answer.status).toBe(200);
  return jsonOf(answer) as Page;
}

const idsOf = ({ lessons }: Page) => lessons.map(({ id }) => id);

/** Reads all pages; `between` runs before each but the first. */
async function walk(
  query: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const ids: string[] = [];
  let page = await list(`?${query}`);
  for (;;) {
    ids.push(...idsOf(page));
    if (page.nextCursor === null) return ids;
    await between();
    page = await list(`?${query}&cursor=${page.nextCursor}`);
  }
}

function expectShapeA(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, body: jsonOf(answer) }).toStrictEqual({ status, body: { error } });
}

describe('a lesson in the list', () => {
  test("has its last published version, with that version's totals", async () => {
    const older = await addLesson(harness, organization, ['unpublished', 'published', 'published', 'draft']);
    await harness.db.lessonVersions.updateOne(
      { _id: older.versionIds[1] },
      { publishedAt: new Date('2026-05-01') },
    );
    const answer = await askList();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(jsonOf(answer)).toStrictEqual({
      lessons: [
        {
          id: older.lessonId,
          slug: `lesson-${older.lessonId}`,
          title: `Lesson ${older.lessonId}`,
          status: 'published',
          latestVersion: {
            id: older.versionIds[1],
            versionNumber: 2,
            publishedAt: '2026-05-01T00:00:00.000Z',
          },
          totalSections: 2,
          totalSteps: 20,
          updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        },
      ],
      nextCursor: null,
    });
  });

  test("without a published version is a draft, or unpublished if it once had one, with its newest version's totals", async () => {
    const draft = await addLesson(harness, organization, ['draft', 'draft']);
    const unpublished = await addLesson(harness, organization, ['unpublished', 'draft']);
    const totals = { latestVersion: null, totalSections: 2, totalSteps: 20 };
    const { lessons } = await list();
    expect(lessons).toHaveLength(2);
    expect(lessons).toContainEqual(
      expect.objectContaining({ id: draft.lessonId, status: 'draft', ...totals }),
    );
    expect(lessons).toContainEqual(
      expect.objectContaining({ id: unpublished.lessonId, status: 'unpublished', ...totals }),
    );
  });

  test('is the same for a user session as for API credentials, and never of another organization', async () => {
    await addLesson(harness, organization);
    const { user } = await buildUser(harness, { organization });
    const session = await openSession(address, user);
    expect(await list('', session)).toStrictEqual(await list());
    expect((await list('', session)).lessons).toHaveLength(1);

    const { headers: others } = await buildOrganization(harness);
    expect(await list('', others)).toStrictEqual({ lessons: [], nextCursor: null });
  });

  test('is not listed once it is deleted', async () => {
    const { lessonId } = await addLesson(harness, organization, ['published']);
    await markLessonDeleted(harness.db, lessonId);
    expect(await list()).toStrictEqual({ lessons: [], nextCursor: null });
  });
});

describe('authentication', () => {
  test.each<[string, (good: string, cookie: string) => Record<string, string>]>([
    ['nobody', () => ({})],
    ['bad credentials', () => ({ authorization: 'Bearer a.b' })],
    ['bad credentials, and a good cookie', (_good, cookie) => ({ authorization: 'Bearer a.b', cookie })],
    ['an empty Authorization header, and a valid cookie', (_good, cookie) => ({ authorization: '', cookie })],
    ['a bad cookie', () => ({ cookie: 'lectern=a; lectern.sig=b' })],
  ])('rejects %s: 401', async (_who, sent) => {
    const { user } = await buildUser(harness, { organization });
    const { cookie } = await openSession(address, user);
    const answer = await askList('', sent(headers.authorization, cookie));
    expectShapeA(answer, 401, 'Authentication failed');
    expect(challengeOf(answer)).toBe('Bearer realm="Lectern"');
  });

  test('uses the Authorization header, whatever the cookie', async () => {
    const { user } = await buildUser(harness);
    const { cookie } = await openSession(address, user);
    const { lessonId } = await addLesson(harness, organization);
    expect(idsOf(await list('', { ...headers, cookie }))).toStrictEqual([lessonId]);
  });
});

describe('pagination', () => {
  test('returns pages of the requested size, the newest first, each lesson once', async () => {
    const added: string[] = [];
    for (let count = 0; count < 7; count += 1)
      added.unshift((await addLesson(harness, organization)).lessonId);
    // Lessons of one millisecond have an order, too.
    const together = { $in: added.slice(2, 5) };
    const [{ createdAt } = { createdAt: new Date() }] = await harness.db.lessons.find({ _id: together });
    await harness.db.lessons.updateMany({ _id: together }, { createdAt });
    const expected = [...added.slice(0, 2), ...added.slice(2, 5).sort(), ...added.slice(5)];
    for (const limit of [1, 2, 3, 6, 7, 8]) expect(await walk(`limit=${limit}`)).toStrictEqual(expected);
    expect((await list('?limit=7')).nextCursor).toBeNull();
    expect(idsOf(await list('?limit=3'))).toHaveLength(3);
  });

  test('shows each remaining lesson once, while others are imported, changed, published and deleted', async () => {
    const added: string[] = [];
    for (let count = 0; count < 9; count += 1) {
      added.unshift((await addLesson(harness, organization, ['published'])).lessonId);
    }
    const stay = added.filter((_, index) => index % 3 !== 1);
    const leave = added.filter((_, index) => index % 3 === 1);
    const seen = await walk('limit=2', async () => {
      const [changed = ''] = stay;
      await addLesson(harness, organization);
      await saveLesson(harness.db, { _id: changed, organizationId: organization._id, slug: 'a', title: 'A' });
      const gone = leave.pop();
      if (gone !== undefined) await markLessonDeleted(harness.db, gone);
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => stay.includes(id))).toStrictEqual(stay);
  });

  test('continues after a lesson that was deleted in between', async () => {
    const first = await addLesson(harness, organization);
    const last = await addLesson(harness, organization);
    const { nextCursor } = await list('?limit=1');
    await markLessonDeleted(harness.db, last.lessonId);
    expect(idsOf(await list(`?cursor=${nextCursor}`))).toStrictEqual([first.lessonId]);
  });

  test('filters by status', async () => {
    const kinds = {
      published: ['published'],
      draft: ['draft'],
      unpublished: ['unpublished', 'draft'],
    } as const;
    const added: Record<string, string[]> = { published: [], draft: [], unpublished: [] };
    for (const status of ['draft', 'published', 'unpublished', 'draft', 'published'] as const) {
      added[status]?.unshift((await addLesson(harness, organization, [...kinds[status]])).lessonId);
    }
    for (const status of Object.keys(kinds)) {
      expect(await walk(`status=${status}&limit=1`)).toStrictEqual(added[status]);
      const { lessons } = await list(`?status=${status}`);
      expect(lessons.every((lesson) => lesson.status === status)).toBe(true);
    }
  });

  test('costs as much as a page holds, however many lessons and versions there are', async () => {
    const statuses = (['published', 'unpublished', 'draft'] as const).flatMap(
      (status) => Array(5).fill(status) as (typeof status)[],
    );
    for (let count = 0; count < 12; count += 1) await addLesson(harness, organization, statuses);
    // A page and one more; each with three versions, through two indexes that MongoDB tries.
    expect(await documentsRead('?limit=2')).toBeLessThanOrEqual(3 * (1 + 3 * 2));
  });
});

/** Returns how many documents MongoDB reads for a page once it has chosen an index. */
async function documentsRead(query: string): Promise<number> {
  const database = harness.db.connection.db;
  if (database === undefined) throw new Error('not connected');
  for (let times = 0; times < 3; times += 1) await list(query);
  await database.command({ profile: 2 });
  await list(query);
  await database.command({ profile: 0 });
  const profiles = database.collection<{ docsExamined: number; hasSortStage?: true }>('system.profile');
  const profile = await profiles.findOne({ 'command.aggregate': 'lessons' }, { sort: { ts: -1 } });
  expect(profile?.hasSortStage).toBeUndefined();
  return profile?.docsExamined ?? NaN;
}

test.each<[string, string]>([
  ['limit=0', 'limit must be a whole number between 1 and 100'],
  ['limit=101', 'limit must be a whole number between 1 and 100'],
  ['limit=1.5', 'limit must be a whole number between 1 and 100'],
  ['limit=', 'limit must be a whole number between 1 and 100'],
  ['limit=1e1', 'limit must be a whole number between 1 and 100'],
  ['limit=1&limit=2', 'limit must be a whole number between 1 and 100'],
  ['status=deleted', 'status must be published, draft or unpublished'],
  ['status=draft&status=draft', 'status must be published, draft or unpublished'],
  ['status[$ne]=draft', 'status[$ne] is not a known parameter'],
  ['offset=10', 'offset is not a known parameter'],
  ['__proto__=1', '__proto__ is not a known parameter'],
])('?%s gets 422 with the reason', async (query, error) => {
  expectShapeA(await askList(`?${query}`), 422, error);
});

test.each<[string, string]>([
  ['is empty', ''],
  ['is short', '0'.repeat(43)],
  ['is long', '0'.repeat(5000)],
  ['has other letters', 'g'.repeat(44)],
  ['has letters of another case', 'A'.repeat(44)],
  ['ends with a line break', `${'0'.repeat(44)}%0a`],
  ['has a NUL byte', '%00'],
  ['is an object', '{"$gt":""}'],
])('a cursor that %s gets 422', async (_what, cursor) => {
  expectShapeA(await askList(`?cursor=${cursor}`), 422, 'cursor is not valid');
});

test('every well-formed cursor is a position in the list, even if it was never issued', async () => {
  const { lessonId } = await addLesson(harness, organization);
  expect(idsOf(await list(`?cursor=${'f'.repeat(44)}`))).toEqual([lessonId]);
  expect(idsOf(await list(`?cursor=${'0'.repeat(44)}`))).toEqual([]);
});

test('HEAD responds like GET, and other methods get 405', async () => {
  const { body, ...head } = await ask(`${address}/api/lessons`, { method: 'HEAD', headers });
  expect(head.status).toBe(200);
  expect(body).toHaveLength(0);
  const posted = await ask(`${address}/api/lessons`, { method: 'POST', headers });
  expect(posted.status).toBe(405);
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
});

test('the list routes do not shadow the export endpoint, which keeps its own error format', async () => {
  const version = await buildVersion(harness, organization, (await buildPackage()).path, { publish: false });
  expectFailure(await ask(address + exportPath(version), { headers }), notFound);
});
