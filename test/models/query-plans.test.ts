import { beforeAll, expect, test } from 'vitest';
import type { Model } from 'mongoose';
import { newestFirst } from '../../shared/models/newest-first.ts';
import { listApiKeys } from '../../shared/models/api-key.ts';
import { findReport } from '../../shared/models/conversion-report.ts';
import { MongoLastUses } from '../../shared/models/file-use.ts';
import { listUnfinishedContent } from '../../shared/models/lesson-content.ts';
import { listVersions, usesRelease } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { listLessons } from '../../shared/models/lesson.ts';
import { listPlatforms } from '../../shared/models/lti-platform.ts';
import { beginRegistration, inviteRegistration } from '../../shared/models/lti-registration.ts';
import { countScores, listScores } from '../../shared/models/lti-score.ts';
import { listOrganizations } from '../../shared/models/organization.ts';
import { listUnusedReleases } from '../../shared/models/widget-release.ts';
import { listUsers } from '../../shared/models/user.ts';
import { limitRecords, removeUnusedRecords } from '../../shared/exports/unused-records.ts';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import { auditOrders, readAudit } from '../../shared/models/audit-entry.ts';
import { runRetention } from '../../shared/erasure/retention.ts';
import { forgetStatistics } from '../../shared/models/lesson-statistics.ts';
import { removeUnusedAssets } from '../../shared/assets/stored-assets.ts';
import { endpoints, requestOf } from '../http/isolation-table.ts';
import { startLaunchLab, tokenOf } from '../lti/support/launch-lab.ts';
import { Player } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import { buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { buildTenant } from '../support/tenants.ts';
import type { Tenant } from '../support/tenants.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { multiply } from './multiply.ts';

/*
 * MongoDB's profiler reports how it executed each command of an API, a worker and a command line, among many documents of
 * other tenants, lessons and learners.
 */

const unlimited = { RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_ADDRESS: '0', LOGIN_TRIES: '1000' };
const lab = useStarted(
  () => startLaunchLab({}, unlimited),
  (started) => started.close(),
);

/** An executed command, as the profiler reports it. */
interface Execution {
  ns: string;
  op: string;
  command: Record<string, unknown>;
  planSummary?: string;
  hasSortStage?: boolean;
  docsExamined?: number;
  nreturned?: number;
  nMatched?: number;
  ndeleted?: number;
}

let executions: Execution[];

/** Profiles a request to every endpoint, over copies of all documents. */
const timeoutMs = 480_000;

beforeAll(async () => {
  const { harness, address } = lab;
  const tenant = await buildTenant(harness, address);
  const link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 } });
  await finish(link);
  await addCopies(tenant);

  const external = await publishExternal();
  const database = harness.db.connection.db;
  if (database === undefined) throw new Error('not connected');
  await database.createCollection('system.profile', { capped: true, size: 64 * 1024 ** 2 });
  await database.command({ profile: 2 });
  const stopWorker = await harness.startWorker({
    LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(lab.simulator.issuer).host,
  });
  await useEverything(tenant);
  expect((await ask(address + exportPath(external), { headers: lab.headers })).status).toBe(200);
  await finish(lab.addLink());
  const sent = lab.addLink({ lineItem: { label: 'Sent', scoreMaximum: 10 } });
  await finish(sent);
  await waitFor('the grade', () =>
    lab.simulator.lineItemsOf(sent).some((item) => lab.simulator.scoresOf(item).length > 0),
  );
  await stopWorker();
  await database.command({ profile: 0 });
  const found = await database.collection('system.profile').find({}).toArray();
  executions = (found as unknown as Execution[]).filter(({ ns }) => !ns.includes('.system.'));
}, timeoutMs);

/** Publishes a lesson whose picture and widget are at the simulator, which has neither. */
async function publishExternal(): Promise<LessonVersion> {
  const { issuer } = lab.simulator;
  const { path } = await buildPackage({
    media: [{ sourceUrl: `${issuer}/picture.png` }],
    widgets: [{ widgetType: 'Dial', sourceUrl: `${issuer}/dial.js` }],
    blocks: ([id]) => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${id}`, alt: '', caption: '' } },
      { type: 'Dial', props: { id: 'Dial-1' } },
    ],
  });
  return buildVersion(lab.harness, lab.organization, path);
}

/** Launches a lesson as a learner and finishes it. */
async function finish(link: ReturnType<typeof lab.addLink>): Promise<void> {
  const token = tokenOf(await lab.launch({ link, user: lab.simulator.addUser() })) ?? '';
  const player = new Player(lab.address, lab.version, token);
  await player.write();
  const last = { currentSectionIndex: 1, currentStepIndex: 0, completed: true };
  await player.write({ ...last, items: [{ widgetId: 'q3', answer: ['b'] }] });
}

/** Adds documents of other organizations, of the same one, and of the same lesson. */
async function addCopies({ organization, ids }: Tenant): Promise<void> {
  const ofOrganization = [organization._id, lab.organization._id];
  const ofLesson = [...ofOrganization, ids.lessonId, lab.version.lessonId];
  await multiply(
    lab.harness.db,
    [[], ofOrganization, ofLesson].map((kept) => ({ kept: new Set(kept), copies: 3 })),
  );
}

type Listed = { _id: string; createdAt: Date };

/** Reads the first and the second page of a list. */
async function readPages(list: Model<Listed>, filter: object): Promise<void> {
  const { next } = await newestFirst(list, filter, { limit: 1, after: null });
  await newestFirst(list, filter, { limit: 5, after: next ?? { createdAt: new Date(), id: 'x' } });
}

/** Makes the requests of every endpoint, and calls what commands and sweeps call. */
async function useEverything(tenant: Tenant): Promise<void> {
  const { harness, address, platform } = lab;
  const { db, store } = harness;
  for (const endpoint of Object.values(endpoints)) {
    for (const caller of endpoint.callers) {
      const { path, options } = requestOf(endpoint, caller, tenant, tenant.ids);
      const { status } = await ask(address + path, options);
      // The second write of a learner is stale.
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code < 400 || code === 409)]);
    }
  }
  const bearer = { headers: { authorization: tenant.authorization } };
  const { lessonId, platformId, ltiUserId } = tenant.ids;
  const record = `/api/public/lessons/${lessonId}/lti-progress/${ltiUserId}?platformId=${platformId}`;
  expect((await ask(address + record, bearer)).status).toBe(200);
  await editDraft(`${address}/api/lessons/${lessonId}/draft`, bearer);
  await listLearners(address, bearer, tenant);
  await countLearners(address, bearer, tenant);
  for (const key of ['a', 'a']) {
    const { authorization } = bearer.headers;
    const options = { method: 'POST', headers: { authorization, 'idempotency-key': key } };
    const path = `/api/webhooks/${tenant.ids.webhookId}/test`;
    expect((await ask(address + path, options)).status).toBe(202);
  }
  const lists = [db.users, db.apiKeys, db.ltiPlatforms, db.ltiRegistrations] as const;
  for (const list of lists)
    await readPages(list as unknown as Model<Listed>, { organizationId: tenant.organization._id });
  await readPages(db.organizations as unknown as Model<Listed>, {});
  await runRetentionOf(tenant);
  const { token } = await inviteRegistration(db, tenant.organization._id);
  await beginRegistration(db, token);
  await lab.startApi();

  const organizationId = tenant.organization._id;
  const now = new Date();
  await listOrganizations(db);
  await listApiKeys(db, organizationId);
  await listUsers(db, organizationId);
  await listLessons(db, organizationId);
  await listVersions(db, [lessonId]);
  await usesRelease(db, { organizationId, type: tenant.ids.widgetType, widgetId: 'a-widget' });
  for (const organization of [undefined, organizationId]) await listPlatforms(db, organization);
  for (const selection of [
    {},
    { organizationId: platform.organizationId },
    { platformId: platform._id },
    { state: 'waiting' as const },
    { organizationId: platform.organizationId, state: 'idle' as const },
    { platformId: platform._id, state: 'idle' as const },
  ]) {
    const [first] = await listScores(db, selection, { limit: 5 });
    await listScores(db, selection, { limit: 5, before: first });
  }
  await countScores(db);
  for (const order of auditOrders) {
    for await (const after of readAudit(db, organizationId, {}, { order })) {
      for await (const _entry of readAudit(db, organizationId, {}, { order, after })) break;
      break;
    }
  }
  for await (const _entry of readAudit(db, organizationId, { learner: 'x', since: now })) break;
  await findReport(db, 'a version');
  await listUnfinishedContent(db, now);
  await listUnusedReleases(db, now);
  await removeUnusedAssets(db, store, 0);
  await limitRecords(lab.harness, organizationId, 0);
  await removeUnusedRecords(lab.harness, new AbortController().signal);
  await new MongoLastUses(db).touch('a file');
  await new MongoLastUses(db).find(['a file']);
}

/** Lists a lesson's learners with every filter, from a position in the middle. */
async function listLearners(address: string, bearer: AskOptions, { ids }: Tenant): Promise<void> {
  const { lessonId, versionId, platformId } = ids;
  for (const filter of ['', 'status=in_progress', `version=${versionId}`, `platform=${platformId}`]) {
    for (const order of ['oldest', 'newest']) {
      const url = `${address}/api/lessons/${lessonId}/learners?limit=3&order=${order}&since=2020-01-01T00:00:00Z&${filter}`;
      const { nextCursor } = jsonOf(await ask(url, bearer)) as { nextCursor: string | null };
      if (nextCursor !== null) await ask(`${url}&cursor=${nextCursor}`, bearer);
    }
  }
}

/** Sets the retention of an organization, as a dry run first, and runs it. */
async function runRetentionOf({ authorization, organization }: Tenant): Promise<void> {
  const { address, harness } = lab;
  const days = { progress: 1, ltiProgress: 1, grades: 1, deliveries: 1 };
  for (const query of ['?dryRun=true', '']) {
    const reply = await ask(`${address}/api/retention${query}`, {
      method: 'PUT',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ days }),
    });
    expect(reply.status).toBe(200);
  }
  const { db } = harness;
  await db.retentions.updateOne({ _id: organization._id }, { dueAt: new Date(0) });
  const audit = new AuditLog({ db, log: { warn: () => undefined } });
  while (await runRetention({ db, audit }, new AbortController().signal));
}

/** Opens, saves, publishes and discards a draft. */
async function editDraft(url: string, { headers }: AskOptions): Promise<void> {
  const send = async (method: string, path = '', json: object = {}) => {
    const body = { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(json) };
    const answer = await ask(url + path, {
      method,
      ...(method === 'PUT' || method === 'POST' ? body : { headers }),
    });
    expect(answer.status, `${method} ${path}`).toBeLessThan(400);
    return answer;
  };
  await send('POST');
  const { skeleton } = jsonOf(await send('GET')) as { skeleton: object };
  await send('PUT', '', { revision: 1, skeleton });
  await send('PUT', '/steps/new', { revision: 0, content: { content: [] } });
  await send('PUT', '/steps/new', { revision: 1, content: { content: [], root: {} } });
  await send('POST', '/publish');
  await waitFor('the end of the draft', async () => (await ask(url, { headers })).status === 404);
  await send('POST');
  await send('DELETE');
}

/** Has the worker count a lesson's learners. */
async function countLearners(
  address: string,
  bearer: AskOptions,
  { ids: { lessonId } }: Tenant,
): Promise<void> {
  const url = `${address}/api/lessons/${lessonId}/statistics`;
  await waitFor('the statistics', async () => (await ask(url, bearer)).status === 200);
  await forgetStatistics(lab.harness.db, [lessonId]);
}

/** Commands that read or change documents, in one line each. */
function listed(isWrong: (execution: Execution) => boolean): string[] {
  const lines = executions.filter(isWrong).map(({ ns, op, command, ...execution }) => {
    const { planSummary, docsExamined, hasSortStage } = execution;
    const found = returned({ ns, op, command, ...execution });
    const counts = `${planSummary}${hasSortStage === true ? ' SORT' : ''}, ${docsExamined} for ${found}`;
    return `${ns.replace(/^[^.]+\./, '')} ${op} ${counts}: ${JSON.stringify(command).slice(0, 600)}`;
  });
  return [...new Set(lines)];
}

/** Returns the number of documents that a command returned, changed or removed, and that its lookups added. */
function returned({ command, nreturned = 0, nMatched = 0, ndeleted = 0 }: Execution): number {
  const pipeline = (command.pipeline ?? []) as Record<string, unknown>[];
  const lookups = pipeline.filter((stage) => '$lookup' in stage).length;
  return Math.max(nreturned, nMatched, ndeleted) * (1 + lookups);
}

test('queries of every collection were profiled', () => {
  const profiled = new Set(executions.map(({ ns }) => ns.replace(/^[^.]+\./, '')));
  const { connection } = lab.harness.db;
  expect(Object.keys(connection.models).filter((name) => !profiled.has(name))).toEqual([]);
});

test('no query scans a collection', () => {
  expect(listed(({ planSummary = '' }) => planSummary.includes('COLLSCAN'))).toEqual([]);
});

test('no query sorts documents in memory', () => {
  // The due targets are sorted after one index entry was read for each.
  const isGrouped = ({ planSummary = '' }: Execution) => planSummary.startsWith('DISTINCT_SCAN');
  expect(listed((one) => one.hasSortStage === true && !isGrouped(one))).toEqual([]);
});

test('queries examine at most twice as many documents as they return', () => {
  expect(listed((one) => (one.docsExamined ?? 0) > 2 * Math.max(returned(one), 1))).toEqual([]);
});
