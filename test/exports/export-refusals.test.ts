import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { ask, expectFailure, forbidden, notFound, unauthorized, wordsOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { viewQueue } from './open-queue.ts';

type Tenant = Awaited<ReturnType<typeof buildOrganization>>;

/** Below the import limit, so that only the build meets the limit. */
const maxBytes = 200_000;
const api = useApi();

let solo: Tenant;
let foreign: Tenant;
/** Versions that cannot be exported; two of them were exported before. */
let unavailable: Record<'draft' | 'unpublished' | 'deleted' | 'foreign', LessonVersion>;
let version: LessonVersion;
let other: LessonVersion;
let unplayable: LessonVersion;

const build = async (
  { organization }: Pick<Tenant, 'organization'> = { organization: api.organization },
  overrides: Parameters<typeof buildPackage>[0] = {},
  options: { publish?: boolean } = {},
) => buildVersion(api, organization, (await buildPackage(overrides)).path, options);

beforeAll(async () => {
  const endWorker = await api.startWorker({ EXPORT_MAX_BYTES: String(maxBytes) });
  [solo, foreign] = [await buildOrganization(api, { plan: 'solo' }), await buildOrganization(api)];
  [version, other] = [await build(), await build()];
  unplayable = await build(foreign, { sections: [] });
  unavailable = {
    draft: await build(undefined, {}, { publish: false }),
    unpublished: await build(),
    deleted: await build(),
    foreign: await build(foreign),
  };
  // An archive in the store must not outlive the publication.
  for (const exported of [unavailable.unpublished, unavailable.deleted])
    expect((await ask(api.url + exportPath(exported), { headers: api.headers })).status).toBe(200);
  await unpublish(api.db, unavailable.unpublished.lessonId);
  await deleteLesson(api.db, unavailable.deleted.lessonId);
  return endWorker;
});

const failure = (status: number, code: string, error: string, message: string) => ({
  ...{ status, code, error, message },
});
const badRequest = (message: string) => failure(400, 'BAD_REQUEST', 'Bad Request', message);
const invalidContent = (message: string) => failure(422, 'INVALID_CONTENT', 'Invalid Content', message);

const badIds = ['x', `${randomUUID()}0`, '%00', '..%2f..', '%E0%A4%A', '$ne'];

/** The export endpoints; all of them reject requests alike. */
const endpoints = ['GET export-zip', 'GET export-manifest', 'GET export-status', 'DELETE export-status'];

describe.each(endpoints)('%s:', (endpoint) => {
  const [method = '', name = ''] = endpoint.split(' ');
  const askFor = (lessonId: string, versionId: string, { headers }: Pick<Tenant, 'headers'> = api) => {
    const path = exportPath({ lessonId, _id: versionId }).replace('export-zip', name);
    return ask(api.url + path, { method, headers });
  };
  const expectGood = async (asking: Promise<Answer>): Promise<void> => {
    expect((await asking).status).toBeOneOf([200, 204]);
  };

  test('an id that is not a UUID gets 400, first for the lesson, then for the version', async () => {
    for (const id of badIds) {
      expectFailure(await askFor(id, randomUUID()), badRequest('Invalid lesson ID'));
      expectFailure(await askFor(randomUUID(), id), badRequest('Invalid version ID'));
    }
    expectFailure(await askFor('x', 'y'), badRequest('Invalid lesson ID'));
  });

  test('ids are case-insensitive', async () => {
    await expectGood(askFor(version.lessonId.toUpperCase(), version._id.toUpperCase()));
  });

  test('faults are reported in order: credentials, path, plan, existence, content', async () => {
    expectFailure(await askFor('x', 'y', { headers: { authorization: 'Bearer x' } }), unauthorized);
    expectFailure(await askFor('x', randomUUID(), solo), badRequest('Invalid lesson ID'));
    expectFailure(await askFor(randomUUID(), randomUUID(), solo), forbidden);
    expectFailure(await askFor(unplayable.lessonId, unplayable._id), notFound);
    expect((await askFor(unplayable.lessonId, unplayable._id, foreign)).status).toBe(422);
  });

  test('a downgrade blocks the next download, even of an existing archive', async () => {
    const tenant = await buildOrganization(api);
    const { lessonId, _id } = await build(tenant);
    await expectGood(askFor(lessonId, _id, tenant));
    await changeOrganization(api.db, { slug: tenant.organization.slug }, { plan: 'solo' });
    expectFailure(await askFor(lessonId, _id, tenant), forbidden);
    await changeOrganization(api.db, { slug: tenant.organization.slug }, { plan: 'edtech' });
    await expectGood(askFor(lessonId, _id, tenant));
  });

  test('every version that cannot be exported gets the same 404, so callers cannot probe for existence', async () => {
    const answers = [
      await askFor(randomUUID(), randomUUID()),
      await askFor(randomUUID(), version._id),
      await askFor(version.lessonId, randomUUID()),
      await askFor(version.lessonId, other._id),
      await askFor(version.lessonId, unavailable.foreign._id),
    ];
    for (const { lessonId, _id } of Object.values(unavailable)) answers.push(await askFor(lessonId, _id));
    for (const answer of answers) expectFailure(answer, notFound);
    expect(new Set(answers.map((answer) => JSON.stringify(wordsOf(answer)))).size).toBe(1);
  });
});

const exportOf = async (overrides: Parameters<typeof buildPackage>[0]) =>
  ask(api.url + exportPath(await build(undefined, overrides)), { headers: api.headers });

const section = (steps: unknown[], id = 's') => ({ id, title: 'A section', order_index: 0, steps });
const step = (content: unknown[]) => ({
  ...{ id: 't', title: 'A step', order_index: 0 },
  content: { root: { props: {} }, content },
});

test.each<[string, unknown[], string]>([
  ['no sections', [], 'The lesson has no sections'],
  ['a step without blocks', [section([step([])])], 'Step "A step" in section "A section" has no blocks'],
  [
    'several problems',
    [section([], 'r'), section([step([{ props: { id: 'a' } }])])],
    'Section 1 ("A section") has no steps; Step "A step" in section "A section" has a block without a type (content.content[0])',
  ],
])('a lesson published by force with %s gets 422 naming it, and no job', async (_, sections, problem) => {
  const queue = viewQueue(api);
  const before = await queue.jobs.getJobCounts();
  const answer = await exportOf({ sections });
  expectFailure(answer, invalidContent(`The lesson cannot be exported: ${problem}`));
  expect(answer.headers.get('retry-after')).toBeNull();
  expect(await queue.jobs.getJobCounts()).toEqual(before);
});

test('a version without content gets 422', async () => {
  const empty = await build();
  await api.db.lessonContents.deleteMany({ versionId: empty._id });
  const answer = await ask(api.url + exportPath(empty), { headers: api.headers });
  expectFailure(answer, invalidContent('The content of this version is missing.'));
});

test('an archive over EXPORT_MAX_BYTES gets 422 with the limit, each time, and one below it is exported', async () => {
  const tooLarge = await build(undefined, { media: [{ bytes: Buffer.alloc(maxBytes, 7) }] });
  const expected = invalidContent(`The archive would be larger than the limit of ${maxBytes} bytes.`);
  for (let time = 0; time < 2; time += 1)
    expectFailure(await ask(api.url + exportPath(tooLarge), { headers: api.headers }), expected);
  expect((await exportOf({ media: [{ bytes: Buffer.alloc(1000, 7) }] })).status).toBe(200);
});
