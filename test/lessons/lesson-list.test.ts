import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { markLessonDeleted, saveLesson } from '../../shared/models/lesson.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildUser, openSession } from '../accounts/users.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { addLesson } from './lessons.ts';

const api = useApi();
let organization: Organization;
let headers: { authorization: string };
beforeEach(async () => {
  ({ organization, headers } = await buildOrganization(api));
});

interface Page {
  lessons: { id: string; status: string }[];
  nextCursor: string | null;
}

type Headers = Record<string, string>;

const askLessons = (path = '', sent: Headers = headers) =>
  ask(`${api.url}/api/lessons${path}`, { headers: sent });
const askVersions = (lessonId: string, sent?: Headers) => askLessons(`/${lessonId}/versions`, sent);

async function list(query = '', sent?: Headers): Promise<Page> {
  const answer = await askLessons(query, sent);
  expect(answer.status).toBe(200);
  return jsonOf(answer) as Page;
}

const idsOf = ({ lessons }: Page) => lessons.map(({ id }) => id);

async function logIn() {
  const { user } = await buildUser(api, { organization });
  return openSession(api.url, user);
}

/** Adds lessons and returns their ids, the newest first. */
async function addLessons(count: number, ...statuses: Parameters<typeof addLesson>[2][]): Promise<string[]> {
  const ids: string[] = [];
  for (let added = 0; added < count; added += 1)
    ids.unshift((await addLesson(api, organization, ...statuses)).lessonId);
  return ids;
}

/** Reads all pages; `between` runs before each but the first. */
async function readPages(query: string, between: () => unknown = () => undefined): Promise<string[]> {
  const ids: string[] = [];
  let page = await list(`?${query}`);
  for (;;) {
    ids.push(...idsOf(page));
    if (page.nextCursor === null) return ids;
    await between();
    page = await list(`?${query}&cursor=${page.nextCursor}`);
  }
}

describe('a lesson in the list', () => {
  test("has its last published version, with that version's totals", async () => {
    const { lessonId, versionIds } = await addLesson(api, organization, [
      ...(['unpublished', 'published', 'published', 'draft'] as const),
    ]);
    const [, id] = versionIds;
    await api.db.lessonVersions.updateOne({ _id: id }, { publishedAt: new Date('2026-05-01') });
    const answer = await askLessons();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(jsonOf(answer)).toStrictEqual({
      lessons: [
        {
          id: lessonId,
          slug: `lesson-${lessonId}`,
          title: `Lesson ${lessonId}`,
          status: 'published',
          latestVersion: { id, versionNumber: 2, publishedAt: '2026-05-01T00:00:00.000Z' },
          totalSections: 2,
          totalSteps: 20,
          updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        },
      ],
      nextCursor: null,
    });
  });

  test("without a published version is a draft, or unpublished if it once had one, with its newest version's totals", async () => {
    const draft = await addLesson(api, organization, ['draft', 'draft']);
    const unpublished = await addLesson(api, organization, ['unpublished', 'draft']);
    const totals = { latestVersion: null, totalSections: 2, totalSteps: 20 };
    expect((await list()).lessons).toMatchObject([
      { id: unpublished.lessonId, status: 'unpublished', ...totals },
      { id: draft.lessonId, status: 'draft', ...totals },
    ]);
  });

  test('is the same for a user session as for API credentials, and never of another organization', async () => {
    const { lessonId } = await addLesson(api, organization);
    const session = await logIn();
    expect(await list('', session)).toStrictEqual(await list());
    expect(idsOf(await list('', session))).toStrictEqual([lessonId]);

    const { headers: others } = await buildOrganization(api);
    expect(await list('', others)).toStrictEqual({ lessons: [], nextCursor: null });
  });

  test('is not listed once it is deleted', async () => {
    const { lessonId } = await addLesson(api, organization, ['published']);
    await markLessonDeleted(api.db, lessonId);
    expect(await list()).toStrictEqual({ lessons: [], nextCursor: null });
  });
});

test('the Authorization header decides, whatever the cookie', async () => {
  const { cookie } = await logIn();
  for (const authorization of ['Bearer a.b', ''])
    expectError(await askLessons('', { authorization, cookie }), 401, 'Authentication failed');
  const other = await buildOrganization(api);
  const { lessonId } = await addLesson(api, other.organization);
  expect(idsOf(await list('', { ...other.headers, cookie }))).toStrictEqual([lessonId]);
});

describe('pagination', () => {
  test('returns pages of the requested size, the newest first, each lesson once', async () => {
    const added = await addLessons(7);
    // Lessons of one millisecond have an order, too.
    const together = { $in: added.slice(2, 5) };
    const [{ createdAt } = { createdAt: new Date() }] = await api.db.lessons.find({ _id: together });
    await api.db.lessons.updateMany({ _id: together }, { createdAt });
    const expected = [...added.slice(0, 2), ...added.slice(2, 5).sort(), ...added.slice(5)];
    for (const limit of [1, 3, 7, 8]) expect(await readPages(`limit=${limit}`)).toStrictEqual(expected);
    expect((await list('?limit=7')).nextCursor).toBeNull();
    expect(idsOf(await list('?limit=3'))).toHaveLength(3);
  });

  test('shows each remaining lesson once, while others are imported, changed, published and deleted', async () => {
    const added = await addLessons(9, ['published']);
    const stay = added.filter((_, index) => index % 3 !== 1);
    const leave = added.filter((_, index) => index % 3 === 1);
    const seen = await readPages('limit=2', async () => {
      const [changed = ''] = stay;
      await addLesson(api, organization);
      await saveLesson(api.db, { _id: changed, organizationId: organization._id, slug: 'a', title: 'A' });
      const gone = leave.pop();
      if (gone !== undefined) await markLessonDeleted(api.db, gone);
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => stay.includes(id))).toStrictEqual(stay);
  });

  test('filters by status', async () => {
    const published = await addLessons(2, ['published']);
    const unpublished = await addLessons(1, ['unpublished', 'draft']);
    const draft = await addLessons(2);
    for (const [status, ids] of Object.entries({ published, unpublished, draft })) {
      expect(await readPages(`status=${status}&limit=1`)).toStrictEqual(ids);
      const { lessons } = await list(`?status=${status}`);
      expect(lessons.every((lesson) => lesson.status === status)).toBe(true);
    }
  });

  test('finds lessons by words of their title, in any case and without accents', async () => {
    const [, second = '', first = ''] = await addLessons(3);
    const published = { title: 'Résumé of the tides', status: 'published' as const, publishedAt: new Date() };
    await api.db.lessonVersions.updateOne({ lessonId: first }, published);
    await api.db.lessons.updateOne({ _id: second }, { title: 'Tides and times' });
    const find = async (title: string) => idsOf(await list(`?title=${encodeURIComponent(title)}`));
    expect(await find('TIDES')).toEqual([second, first]);
    expect(await find(' resume tides ')).toEqual([first]);
    expect(await find('tides moon')).toEqual([]);
  });
});

const limitRule = 'limit must be a whole number between 1 and 100';
const statusRule = 'status must be published, draft or unpublished';

test.each([
  ['limit=0', limitRule],
  ['limit=101', limitRule],
  ['limit=1.5', limitRule],
  ['limit=1&limit=2', limitRule],
  ['status=deleted', statusRule],
  [`title=${'t'.repeat(201)}`, 'title must be at most 200 characters long'],
  ['status[$ne]=draft', 'status[$ne] is not a known parameter'],
  ['__proto__=1', '__proto__ is not a known parameter'],
  ...['0'.repeat(43), '0'.repeat(5000), 'g'.repeat(44), `${'0'.repeat(44)}%0a`].map((cursor) => [
    `cursor=${cursor}`,
    'cursor is not valid',
  ]),
  ['cursor={"$gt":""}', 'cursor is not valid'],
])('a query gets 422: $1 (%#)', async (query = '', error = '') => {
  expectError(await askLessons(`?${query}`), 422, error);
});

test.each<[what: string, statuses: Parameters<typeof addLesson>[2]]>([
  ['a published lesson', ['published', 'draft']],
  ['a draft', ['draft']],
  ['a lesson without versions', []],
])(
  '%s is read by its id as in the list, with API credentials and with a session',
  async (_what, statuses) => {
    const { lessonId } = await addLesson(api, organization, statuses);
    await addLesson(api, organization);
    const listed = (await list()).lessons.find(({ id }) => id === lessonId);
    for (const sent of [headers, await logIn()]) {
      const answer = await askLessons(`/${lessonId.toUpperCase()}`, sent);
      expect({ status: answer.status, body: jsonOf(answer) }).toEqual({ status: 200, body: listed });
    }
    expect(listed).toBeDefined();
  },
);

test('a lesson that is unknown, deleted or foreign cannot be read', async () => {
  const [deleted, foreign] = [await addLesson(api, organization), await addLesson(api, api.organization)];
  await markLessonDeleted(api.db, deleted.lessonId);
  for (const id of [randomUUID(), deleted.lessonId, foreign.lessonId])
    expectError(await askLessons(`/${id}`), 404, 'Lesson not found');
  expectError(await askLessons('/x'), 422, 'Invalid lesson ID format');
  expectError(await askLessons(`/${foreign.lessonId}?page=1`), 422, 'page is not a known parameter');
  expectError(await askLessons(`/${foreign.lessonId}`, {}), 401, 'Authentication failed');
});

describe('the versions of a lesson', () => {
  test('are listed the newest first, drafts included, for API credentials and for a session', async () => {
    const { lessonId, versionIds } = await addLesson(api, organization, [
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
      ].map((version) => ({ ...version, convertedFrom: null })),
    });
    expect((await askVersions(lessonId.toUpperCase(), await logIn())).body).toEqual(answer.body);
  });

  test('get the same 404 if the lesson is unknown, deleted or foreign', async () => {
    const deleted = await addLesson(api, organization, ['published']);
    await markLessonDeleted(api.db, deleted.lessonId);
    const { organization: other } = await buildOrganization(api);
    const foreign = await addLesson(api, other, ['published']);
    for (const lessonId of [randomUUID(), deleted.lessonId, foreign.lessonId])
      expectError(await askVersions(lessonId), 404, 'Lesson not found');
  });

  test("left by another organization's import under the same lesson id are not listed", async () => {
    const { lessonId, versionIds } = await addLesson(api, organization, ['draft']);
    const { organization: other } = await buildOrganization(api);
    const own = await api.db.lessonVersions.findById(versionIds[0]).lean().exec();
    const left = { _id: randomUUID(), organizationId: other._id, versionNumber: 9, totalSteps: 99 };
    await api.db.lessonVersions.create({ ...own, ...left, status: 'published', publishedAt: new Date() });
    expect(jsonOf(await askVersions(lessonId))).toMatchObject({ versions: [{ id: versionIds[0] }] });
    expect((await list()).lessons).toMatchObject([
      { id: lessonId, status: 'draft', latestVersion: null, totalSteps: own?.totalSteps },
    ]);
  });

  test.each([
    ...['1', 'null', '%00', '%7B%22$ne%22:null%7D', '11111111-1111-4111-8111-11111111111g'].map((id) => [
      `${id}/versions`,
      'Invalid lesson ID format',
    ]),
    [`${randomUUID()}/versions?limit=1`, 'limit is not a known parameter'],
  ])('/%s gets 422', async (path = '', error = '') => {
    expectError(await askLessons(`/${path}`), 422, error);
  });
});
