import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { runRetention } from '../../shared/erasure/retention.ts';
import type { Database } from '../../shared/models/database.ts';
import { expiry } from '../../shared/models/expired-records.ts';
import { findOrCreateScore } from '../../shared/models/lti-score.ts';
import { claimRetention, saveRun } from '../../shared/models/retention.ts';
import type { ClaimedRetention } from '../../shared/models/retention.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { storeLearners } from '../learners/build-learners.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { crashAfter } from './crash-after.ts';
import { dumpOf, plantLearner, restore } from './learner-lab.ts';

const api = useApi();

const dayMs = 24 * 3600_000;
const none = { progress: 0, ltiProgress: 0, grades: 0, deliveries: 0, pendingEvents: 0 };
const all = { progress: 30, ltiProgress: 30, grades: 30, deliveries: 30, pendingEvents: 30 };
const ofTwoLearners = { progress: 1, ltiProgress: 1, grades: 1, deliveries: 4, pendingEvents: 2 };

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
  const { embedProgress, ltiProgress, ltiScores, eventDeliveries, eventBacklog } = api.db;
  for (const model of [embedProgress, ltiProgress])
    await model.collection.updateMany({ organizationId }, { $set: { lastActivityAt: at } });
  for (const model of [ltiScores, eventDeliveries])
    await model.collection.updateMany({ organizationId }, { $set: { createdAt: at, state: 'idle' } });
  await eventBacklog.collection.updateMany({ organizationId }, { $set: { 'event.at': at } });
}

const put = ({ headers }: Tenant, body: object, query = '') =>
  ask(`${api.url}/api/retention${query}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const retentionOf = async ({ headers }: Tenant) =>
  jsonOf(await ask(`${api.url}/api/retention`, { headers })) as {
    nextRunAt: string | null;
    lastRun: { removed: object; isCapped: boolean } | null;
  };

const makeDue = () => api.db.retentions.updateMany({ dueAt: { $ne: null } }, { dueAt: new Date(0) });

async function run(db: Database = api.db): Promise<void> {
  const audit = new AuditLog({ db: api.db, log: { warn: () => undefined } });
  while (await runRetention({ db, audit }));
}

async function countsOf({ organization: { _id: organizationId } }: Tenant) {
  const { embedProgress, ltiProgress, ltiScores, eventDeliveries, eventBacklog } = api.db;
  return {
    progress: await embedProgress.countDocuments({ organizationId }),
    ltiProgress: await ltiProgress.countDocuments({ organizationId }),
    grades: await ltiScores.countDocuments({ organizationId }),
    deliveries: await eventDeliveries.countDocuments({ organizationId }),
    pendingEvents: await eventBacklog.countDocuments({ organizationId }),
  };
}

test('nothing is removed unless it is set; a dry run counts; a run removes what has expired of this organization, and reports it', async () => {
  const [tenant, other] = [await tenantWith(31), await tenantWith(31)];
  expect(await retentionOf(tenant)).toMatchObject({ nextRunAt: null, lastRun: null });
  await run();
  expect(await countsOf(tenant)).toEqual(ofTwoLearners);

  const preview = { wouldRemove: ofTwoLearners, isCapped: false };
  // Grades stay while there is progress.
  const now = { wouldRemove: { ...ofTwoLearners, grades: 0 }, isCapped: false };
  expect(jsonOf(await put(tenant, { days: all }, '?dryRun=true'))).toEqual(now);
  const mistyped = await put(tenant, { days: all }, '?dry-run=true');
  expectError(mistyped, 422, 'dry-run is not a known parameter');
  expect(await retentionOf(tenant)).toMatchObject({ nextRunAt: null });

  expect((await put(tenant, { days: all })).status).toBe(200);
  const { nextRunAt } = await retentionOf(tenant);
  expect(Date.parse(nextRunAt ?? '') - Date.now()).toBeGreaterThan(dayMs - 60_000);
  await run();
  expect(await countsOf(tenant)).toEqual(ofTwoLearners);
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual(none);
  expect(await retentionOf(tenant)).toMatchObject({
    lastRun: { removed: preview.wouldRemove, isCapped: false },
  });
  const log = await ask(`${api.url}/api/audit?action=retention.run`, { headers: tenant.headers });
  expect(jsonOf(log)).toMatchObject({
    entries: [{ actor: { type: 'system' }, details: { ...ofTwoLearners, isCapped: false } }],
  });
  expect(await countsOf(other)).toEqual(ofTwoLearners);
});

test('younger records and kinds that are off stay; a run removes no more than its limit, and the next one continues', async () => {
  const tenant = await tenantWith(29);
  await put(tenant, { days: all });
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual(ofTwoLearners);
  await age(tenant, 31);
  await put(tenant, { days: { deliveries: 30 }, maxPerRun: 3 });
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual({ ...ofTwoLearners, deliveries: 1 });
  expect(await retentionOf(tenant)).toMatchObject({ lastRun: { isCapped: true } });
  await makeDue();
  await run();
  expect(await countsOf(tenant)).toEqual({ ...ofTwoLearners, deliveries: 0 });
});

test('a crash after any database operation loses no record’s count, and another process continues', async () => {
  const tenant = await tenantWith(31);
  await put(tenant, { days: { progress: 30, deliveries: 30 } });
  await makeDue();
  const names = ['embedProgress', 'eventDeliveries', 'retentions'];
  const dump = await dumpOf(api.db, names);
  for (let operations = 0; ; operations += 1) {
    await restore(api.db, dump, names);
    const isThrough = await crashAfter(api.db, operations, run);
    // The lease of the dead process expires, and so does its wait after a failure.
    const { lastRun } = await retentionOf(tenant);
    if (lastRun === null)
      await api.db.retentions.updateMany({}, { leaseUntil: new Date(0), dueAt: new Date(0) });
    await run();
    const left = await countsOf(tenant);
    expect(left, `after ${operations} operations`).toEqual({ ...ofTwoLearners, progress: 0, deliveries: 0 });
    const removed = { ...none, progress: 1, deliveries: 4 };
    expect(await retentionOf(tenant)).toMatchObject({ lastRun: { removed } });
    if (isThrough) break;
  }
});

/** The entries of runs in the audit log, the last one first. */
const reportsOf = async ({ headers }: Tenant) =>
  jsonOf(await ask(`${api.url}/api/audit?action=retention.run`, { headers })) as {
    entries: { details: object }[];
  };

test('a change of the settings stops a run before its next batch, and reports it; equal settings change nothing', async () => {
  await api.db.retentions.deleteMany({});
  const tenant = await tenantWith(31);
  await put(tenant, { days: all });
  await makeDue();
  const { nextRunAt } = await retentionOf(tenant);
  const claimed = (await claimRetention(api.db)) as ClaimedRetention;
  const batch = { kind: 'deliveries' as const, ids: ['a', 'b'], lessonIds: [] };
  const started = {
    ...{ startedAt: new Date(), removed: { ...none, progress: 3 }, batch, isCapped: false },
    ...{ kind: batch.kind, positions: {} },
  };
  expect(await saveRun(api.db, claimed, started)).toBe(true);

  expect(jsonOf(await put(tenant, { days: all }))).toMatchObject({ nextRunAt, lastRun: null });
  expect(await saveRun(api.db, claimed, started)).toBe(true);
  expect((await reportsOf(tenant)).entries).toEqual([]);

  const removed = { ...none, progress: 3, deliveries: 2 };
  const changed = jsonOf(await put(tenant, { days: all, maxPerRun: 5 })) as { nextRunAt: string };
  expect(changed).toMatchObject({ maxPerRun: 5, lastRun: { removed, isCapped: false } });
  expect(Date.parse(changed.nextRunAt)).toBeGreaterThan(Date.now() + dayMs - 60_000);
  expect(await saveRun(api.db, claimed, started)).toBe(false);
  expect(await reportsOf(tenant)).toMatchObject({
    entries: [{ details: { ...removed, isCapped: false, isStopped: true } }],
  });
});

test('a run with many batches gives way to those of other organizations, and then continues', async () => {
  await api.db.retentions.deleteMany({});
  const tenants = [await tenantWith(31), await tenantWith(31)];
  for (const tenant of tenants) await put(tenant, { days: all });
  await makeDue();
  const audit = new AuditLog({ db: api.db, log: { warn: () => undefined } });
  const runOneBatch = () => runRetention({ db: api.db, audit }, { maxBatches: 1 });
  for (let turn = 0; turn < tenants.length; turn += 1) expect(await runOneBatch()).toBe(true);
  for (const tenant of tenants) {
    expect(await countsOf(tenant)).toEqual({ ...ofTwoLearners, progress: 0 });
    expect(await retentionOf(tenant)).toMatchObject({ lastRun: null });
  }
  while (await runOneBatch());
  for (const tenant of tenants) {
    expect(await retentionOf(tenant)).toMatchObject({ lastRun: { removed: ofTwoLearners } });
    expect((await reportsOf(tenant)).entries).toHaveLength(1);
  }
});

/** Stores an expired record of each lesson. */
async function storeExpired({ organization }: Tenant, lessonIds: readonly string[]): Promise<void> {
  for (const lessonId of lessonIds) {
    const version = { organizationId: organization._id, lessonId, _id: randomUUID() };
    await storeLearners(api.db, version, [{}]);
  }
}

const sortedIds = (count: number) => Array.from({ length: count }, () => randomUUID()).toSorted();

test('a search continues at the lesson where it stopped, in the next turn and in the next run', async () => {
  await api.db.retentions.deleteMany({});
  const tenant: Tenant = await buildOrganization(api);
  const organizationId = tenant.organization._id;
  const [first, second, third, fourth] = sortedIds(4) as [string, string, string, string];
  const audit = new AuditLog({ db: api.db, log: { warn: () => undefined } });
  const left = async () => {
    const records = await api.db.embedProgress.find({ organizationId }).sort({ lessonId: 1 }).lean();
    return records.map(({ lessonId }) => lessonId);
  };

  await storeExpired(tenant, [first, second, third, fourth]);
  await put(tenant, { days: { progress: 30 }, maxPerRun: 2 });
  await makeDue();
  await runRetention({ db: api.db, audit }, { maxBatches: 1 });
  await storeExpired(tenant, [first]);
  await run();
  expect(await left()).toEqual([first, third, fourth]);
  expect(await retentionOf(tenant)).toMatchObject({ lastRun: { isCapped: true } });

  await storeExpired(tenant, [second]);
  await makeDue();
  await run();
  expect(await left()).toEqual([first, second]);
  await makeDue();
  await run();
  expect(await left()).toEqual([]);
  const { lastRun } = (await api.db.retentions.findById(organizationId)) ?? {};
  expect(lastRun).toMatchObject({ isCapped: false, positions: {} });
});

test('a search that begins at a position ends with the records before it', async () => {
  const tenant: Tenant = await buildOrganization(api);
  const organizationId = tenant.organization._id;
  await storeExpired(tenant, sortedIds(3));
  for (const days of [90, 60, 40]) {
    const { _id } = await findOrCreateScore(api.db, {
      ...{ organizationId, lessonId: randomUUID(), ltiUserId: randomUUID() },
      ...{ platformId: randomUUID(), contextId: null, linkId: randomUUID() },
    });
    const createdAt = new Date(Date.now() - days * dayMs);
    await api.db.ltiScores.collection.updateOne({ _id: _id as never }, { $set: { createdAt } });
  }
  const selection = { organizationId, until: new Date(Date.now() - 30 * dayMs), batch: 1 };
  for (const kind of ['progress', 'grades'] as const) {
    /** Removes what a search yields; returns the ids, and the position of each. */
    const listed = async (from: string | null) => {
      const found: { id: string; position: string | null }[] = [];
      for await (const { ids, position } of expiry[kind].list(api.db, selection, from)) {
        for (const id of ids) found.push({ id, position });
        await expiry[kind].remove(api.db, selection, ids);
      }
      return found;
    };
    const collection = kind === 'progress' ? 'embedProgress' : 'ltiScores';
    const dump = await dumpOf(api.db, [collection]);
    const [one, two, three] = await listed(null);
    await restore(api.db, dump, [collection]);
    expect(await listed(two?.position ?? null)).toEqual([two, three, one]);
  }
});

test('a grade stays if its learner returned after the grade was listed', async () => {
  const tenant = await tenantWith(31);
  const organizationId = tenant.organization._id;
  const ids = (await api.db.ltiScores.find({ organizationId })).map(({ _id }) => _id);
  const removeGrades = () =>
    expiry.grades.remove(api.db, { organizationId, until: new Date(), batch: 100 }, ids);
  await removeGrades();
  expect(await countsOf(tenant)).toEqual(ofTwoLearners);
  await api.db.ltiProgress.deleteMany({ organizationId });
  await removeGrades();
  expect(await countsOf(tenant)).toEqual({ ...ofTwoLearners, ltiProgress: 0, grades: 0 });
});

test.each([
  [{ days: { progress: 0 } }, 'progress must be a whole number of days between 1 and 36500, or null'],
  [
    { days: { answers: 1 } },
    'days must be an object with progress, ltiProgress, grades, deliveries, pendingEvents',
  ],
  [{ days: {}, maxPerRun: 0 }, 'maxPerRun must be a whole number between 1 and 1000000'],
  [
    { days: { grades: 30 } },
    'grades must not be removed before ltiProgress: Lectern needs them to send no grade twice',
  ],
])('%j is rejected', async (body, fault) => {
  const answer = await put({ organization: api.organization, headers: api.headers }, body);
  expectError(answer, 422, fault);
});
