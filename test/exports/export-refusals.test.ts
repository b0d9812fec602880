import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setOrganizationPlan } from '../../shared/models/organization.ts';
import { deleteLesson, unpublish } from '../../shared/publishing/publishing.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectFailure, forbidden, notFound, unauthorized, wordsOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';

type Tenant = Awaited<ReturnType<typeof buildOrganization>>;

let harness: Harness;
let api: string;
let edtech: Tenant;
let solo: Tenant;

beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  await harness.startWorker();
  edtech = await buildOrganization(harness);
  solo = await buildOrganization(harness, { plan: 'solo' });
});
afterAll(() => harness.close());

const build = async (tenant: Tenant = edtech, options: { publish?: boolean } = {}) =>
  buildVersion(harness, tenant.organization, (await buildPackage()).path, options);

const badRequest = (message: string) => ({
  status: 400,
  code: 'BAD_REQUEST',
  error: 'Bad Request',
  message,
});

const badIds = [
  'x',
  '123',
  `${randomUUID()}0`,
  `{${randomUUID()}}`,
  '%00',
  '..%2f..',
  '%E0%A4%A',
  '$ne',
  '%20',
];

/** The export endpoints; all of them reject requests alike. */
const addresses = ['GET export-zip', 'GET export-manifest', 'GET export-status', 'DELETE export-status'];

describe.each(addresses)('%s:', (address) => {
  const [method = '', name = ''] = address.split(' ');
  const askFor = (lessonId: string, versionId: string, { headers }: Pick<Tenant, 'headers'> = edtech) => {
    const path = exportPath({ lessonId, _id: versionId }).replace('export-zip', name);
    return ask(api + path, { method, headers });
  };
  const expectGood = async (asking: Promise<Answer>): Promise<void> => {
    expect((await asking).status).toBeOneOf([200, 204]);
  };

  test.each(badIds)('the lesson id "%s" gets 400', async (id) => {
    expectFailure(await askFor(id, randomUUID()), badRequest('Invalid lesson ID'));
  });

  test.each(badIds)('the version id "%s" gets 400', async (id) => {
    expectFailure(await askFor(randomUUID(), id), badRequest('Invalid version ID'));
  });

  test('with two invalid ids the error names the lesson id', async () => {
    expectFailure(await askFor('x', 'y'), badRequest('Invalid lesson ID'));
  });

  test('ids are case-insensitive', async () => {
    const { lessonId, _id } = await build();
    await expectGood(askFor(lessonId.toUpperCase(), _id.toUpperCase()));
  });

  test('invalid credentials are reported before an invalid path', async () => {
    expectFailure(await askFor('x', 'y', { headers: { authorization: 'Bearer x' } }), unauthorized);
  });

  test('an invalid path is reported before a plan without export', async () => {
    expectFailure(await askFor('x', randomUUID(), solo), badRequest('Invalid lesson ID'));
  });

  test('the Solo plan gets its export error before the version lookup', async () => {
    const { lessonId, _id } = await build(solo);
    expectFailure(await askFor(lessonId, _id, solo), forbidden);
    expectFailure(await askFor(randomUUID(), randomUUID(), solo), forbidden);
  });

  test('a downgrade blocks the next download, even of an existing archive', async () => {
    const tenant = await buildOrganization(harness);
    const { lessonId, _id } = await build(tenant);
    await expectGood(askFor(lessonId, _id, tenant));
    await setOrganizationPlan(harness.db, tenant.organization.slug, 'solo');
    expectFailure(await askFor(lessonId, _id, tenant), forbidden);
    await setOrganizationPlan(harness.db, tenant.organization.slug, 'edtech');
    await expectGood(askFor(lessonId, _id, tenant));
  });

  test('every version that cannot be exported gets the same 404, so callers cannot probe for existence', async () => {
    const [version, other, draft, unpublished, deleted, foreign] = [
      await build(),
      await build(),
      await build(edtech, { publish: false }),
      await build(),
      await build(),
      await build(await buildOrganization(harness)),
    ];
    // Two of them were exported before, because an archive in the store must not outlive the
    // publication.
    await expectGood(askFor(unpublished.lessonId, unpublished._id));
    await expectGood(askFor(deleted.lessonId, deleted._id));
    await unpublish(harness.db, unpublished.lessonId);
    await deleteLesson(harness.db, deleted.lessonId);

    const answers = {
      'unknown lesson': await askFor(randomUUID(), randomUUID()),
      'unknown lesson of a known version': await askFor(randomUUID(), version._id),
      'unknown version': await askFor(version.lessonId, randomUUID()),
      'version of another lesson': await askFor(version.lessonId, other._id),
      draft: await askFor(draft.lessonId, draft._id),
      unpublished: await askFor(unpublished.lessonId, unpublished._id),
      deleted: await askFor(deleted.lessonId, deleted._id),
      'lesson of another organization': await askFor(foreign.lessonId, foreign._id),
      "own lesson, another organization's version": await askFor(version.lessonId, foreign._id),
    };
    for (const answer of Object.values(answers)) expectFailure(answer, notFound);
    const [first, ...others] = Object.values(answers).map(wordsOf);
    for (const words of others) expect(words).toEqual(first);
  });

  test('an unknown lesson is reported before invalid content', async () => {
    const foreigner = await buildOrganization(harness);
    const { path } = await buildPackage({ sections: [] });
    const { lessonId, _id } = await buildVersion(harness, foreigner.organization, path);
    expectFailure(await askFor(lessonId, _id), notFound);
    expect((await askFor(lessonId, _id, foreigner)).status).toBe(422);
  });
});
