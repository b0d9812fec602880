import { expect, test } from 'vitest';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { runRetention } from '../../shared/erasure/retention.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { storeLearners } from '../learners/build-learners.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { crashAfter } from './crash-after.ts';
import { plantLearner } from './learner-lab.ts';

const api = useApi();

const dayMs = 24 * 3600_000;
const none = { progress: 0, ltiProgress: 0, grades: 0, deliveries: 0 };
const all = { progress: 30, ltiProgress: 30, grades: 30, deliveries: 30 };
const ofTwoLearners = { progress: 1, ltiProgress: 1, grades: 1, deliveries: 6 };

interface Tenant {
  organization: Organization;
  headers: Record<string, string>;
}

/** Builds an organization with a learner of each source, whose records are `days` old. */
async function tenantWith(days: number): Promise<Tenant> {
  const tenant = await buildOrganization(api);
  const version = await publishLesson(api, tenant.organization);
  for (const source of ['embed', 'lti'] as const) await plantLearner(api, version, { source });
  await age(tenant, days);
  return tenant;
}

async function age({ organization: { _id: organizationId } }: Tenant, days: number): Promise<void> {
  const at = new Date(Date.now() - days * dayMs);
  const { embedProgress, ltiProgress, ltiScores, eventDeliveries } = api.db;
  for (const model of [embedProgress, ltiProgress])
    await model.collection.updateMany({ organizationId }, { $set: { lastActivityAt: at } });
  for (const model of [ltiScores, eventDeliveries])
    await model.collection.updateMany({ organizationId }, { $set: { createdAt: at, state: 'idle' } });
}

const put = ({ headers }: Tenant, body: object, query = '') =>
  ask(`${api.url}/api/retention${query}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const retentionOf = async ({ headers }: Tenant) =>
  jsonOf(await ask(`${api.url}/api/retention`, { headers })) as { nextRunAt: string | null };

const makeDue = () => api.db.retentions.updateMany({ dueAt: { $ne: null } }, { dueAt: new Date(0) });

async function run(db: Database = api.db): Promise<void> {
  const audit = new AuditLog({ db: api.db, log: { warn: () => undefined } });
  while (await runRetention({ db, audit }, new AbortController().signal));
}

async function countsOf({ organization: { _id: organizationId } }: Tenant) {
  const { embedProgress, ltiProgress, ltiScores, eventDeliveries } = api.db;
  return {
    progress: await embedProgress.countDocuments({ organizationId }),
    ltiProgress: await ltiProgress.countDocuments({ organizationId }),
    grades: await ltiScores.countDocuments({ organizationId }),
    deliveries: await eventDeliveries.countDocuments({ organizationId }),
  };
}

test('nothing is removed unless it is set; a dry run counts; a run removes what has expired of this organization, and reports it', async () => {
  const [tenant, other] = [await tenantWith(31), await tenantWith(31)];
  expect(await retentionOf(tenant)).toMatchObject({ nextRunAt: null });
  await run();
  expect(await countsOf(tenant)).toEqual(ofTwoLearners);

  // Grades stay while there is progress.
  const now = { wouldRemove: { ...ofTwoLearners, grades: 0 } };
  expect(jsonOf(await put(tenant, { days: all }, '?dryRun=true'))).toEqual(now);
  const mistyped = await put(tenant, { days: all }, '?dry-run=true');
  expectError(mistyped, 422, 'dry-run is not a known parameter');
  expect(await retentionOf(tenant)).toMatchObject({ nextRunAt: null });

  expect((await put(tenant, { days: all })).status).toBe(200);
  await run();
  expect(await countsOf(tenant)).toEqual(ofTwoLearners);
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual(none);
  const log = await ask(`${api.url}/api/audit?action=retention.run`, { headers: tenant.headers });
  expect(jsonOf(log)).toMatchObject({ entries: [{ actor: { type: 'system' }, details: ofTwoLearners }] });
  expect(await countsOf(other)).toEqual(ofTwoLearners);
});

test('younger records, kinds that are off, and grades with progress stay', async () => {
  const tenant = await tenantWith(29);
  await put(tenant, { days: all });
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual(ofTwoLearners);
  await age(tenant, 31);
  await put(tenant, { days: { grades: 30, deliveries: 30 } });
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual({ ...ofTwoLearners, deliveries: 0 });
});

test('a run begins a day after a change, and then each day; equal settings do not delay it', async () => {
  const tenant = await tenantWith(31);
  const nextInMs = async () => Date.parse((await retentionOf(tenant)).nextRunAt ?? '') - Date.now();
  await put(tenant, { days: { progress: 30 } });
  expect(await nextInMs()).toBeGreaterThan(dayMs - 60_000);
  await makeDue();
  await put(tenant, { days: { progress: 30 } });
  expect(await nextInMs()).toBeLessThan(0);
  await run();
  expect(await nextInMs()).toBeGreaterThan(dayMs - 60_000);
  await makeDue();
  await put(tenant, { days: { progress: 31 } });
  expect(await nextInMs()).toBeGreaterThan(dayMs - 60_000);
});

test('a run whose worker is killed after any database operation is repeated', async () => {
  for (let operations = 1, isThrough = false; !isThrough; operations += 2) {
    await api.db.retentions.deleteMany({});
    const tenant = await tenantWith(31);
    await put(tenant, { days: { progress: 30, deliveries: 30 } });
    await makeDue();
    isThrough = await crashAfter(api.db, operations, run);
    await makeDue();
    await run();
    expect(await countsOf(tenant)).toEqual({ ...ofTwoLearners, progress: 0, deliveries: 0 });
  }
});

test('a run removes more records of a lesson than one operation does', async () => {
  const tenant = await buildOrganization(api);
  const version = await publishLesson(api, tenant.organization);
  await storeLearners(
    api.db,
    version,
    Array.from({ length: 501 }, () => ({})),
  );
  await put(tenant, { days: { progress: 30 } });
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual(none);
});

test.each([
  [{ days: { progress: 0 } }, 'progress must be a whole number of days between 1 and 36500, or null'],
  [{ days: { answers: 1 } }, 'days must be an object with progress, ltiProgress, grades, deliveries'],
])('%j is rejected', async (body, fault) => {
  const answer = await put({ organization: api.organization, headers: api.headers }, body);
  expectError(answer, 422, fault);
});
