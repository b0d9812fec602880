import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createUploads } from '../../shared/imports/create-uploads.ts';
import type { Uploads } from '../../shared/imports/uploads.ts';
import {
  claimImport,
  endImport,
  listWaitingOrganizations,
  renewImport,
} from '../../shared/models/import-queue.ts';
import { cancelImport, findImport, insertImport, queueImport } from '../../shared/models/lesson-import.ts';
import { createLogger } from '../../shared/platform/log.ts';
import type { Store } from '../../shared/storage/store.ts';
import { createImportWorker, observeImports } from '../../worker/imports/import-worker.ts';
import { runImport } from '../../worker/imports/run-import.ts';
import { sweepUploads } from '../../worker/imports/sweep-uploads.ts';
import { watchUploads, picture } from '../packages/import-support.ts';
import { zipFolder } from '../packages/zip-builder.ts';
import { jsonOf } from '../support/answers.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { begin, send, statusOf, upload } from './uploads.ts';
import type { ImportStatus } from './uploads.ts';

/** Without a worker: these tests start their own. */
const api = useApi();
let uploads: Uploads;
beforeAll(async () => {
  uploads = await createUploads(api.config, api.db);
});

/** The metrics of the workers of the current test. */
let registry: Registry;
let observeRun: ReturnType<typeof observeImports>;
beforeEach(() => {
  registry = new Registry();
  observeRun = observeImports(registry);
});

/** Returns how many runs ended with each outcome. */
async function countedRuns(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const lines = /^lectern_import_seconds_count{outcome="(\w+)"} (\d+)$/gm;
  for (const [, outcome = '', count] of (await registry.metrics()).matchAll(lines))
    if (Number(count) > 0) counts[outcome] = Number(count);
  return counts;
}

const prebuild = () => Promise.resolve();
const fileOf = (id: string) => join(api.config.storeDir, 'v1', 'uploads', id);

function startWorker(slots: number, store: Store = api.store) {
  const { db, config } = api;
  const worker = createImportWorker({
    ...{ db, store, uploads, config, prebuild, slots, observeRun, log: createLogger(config, 'test') },
  });
  onTestFinished(() => worker.close(0));
  worker.start();
  return worker;
}

/** A store whose writes wait for `release`. */
function heldStore() {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let writes = 0;
  const store = watchUploads(api.store, async () => {
    writes += 1;
    await held;
  });
  return { store, release: () => release(), writes: () => writes };
}

async function tenantWith(imports: number) {
  const { headers } = await buildOrganization(api);
  const tenant = { url: api.url, headers };
  const ids: string[] = [];
  for (let made = 0; made < imports; made += 1) {
    ids.push(await upload(tenant, await zipFolder((await buildPackage({ media: [picture(1)] })).path)));
  }
  return { tenant, ids };
}

const stateOf = async (id: string) => (await findImport(api.db, id))?.state;

test('a complete upload that its API process did not queue is queued by a sweep', async () => {
  const { id } = jsonOf(await begin(api, 10)) as ImportStatus;
  await send(api, id, new Uint8Array(10));
  // As if the process had died between the last byte and the queue.
  await api.db.lessonImports.updateOne({ _id: id }, { state: 'uploading' });
  await sweepUploads({ ...api, uploads });
  expect(await stateOf(id)).toBe('uploading');
  await sweepUploads({ ...api, uploads }, Date.now() + 120_000);
  expect(await stateOf(id)).toBe('queued');
  await cancelImport(api.db, id);
});

test('an upload without a byte for a day ends, and its file is deleted', async () => {
  const { id } = jsonOf(await begin(api, 10)) as ImportStatus;
  await send(api, id, new Uint8Array(4));
  const day = 24 * 3_600_000;
  await sweepUploads({ ...api, uploads }, Date.now() + day / 2);
  expect((await stat(fileOf(id))).size).toBe(4);
  await sweepUploads({ ...api, uploads }, Date.now() + day + 60_000);
  await expect(stat(fileOf(id))).rejects.toThrow('ENOENT');
  expect((await statusOf(api, id)).error?.message).toBe(
    'The upload got no bytes for 24 hours. Begin it again.',
  );
});

test('an organization with many imports does not delay another one', async () => {
  const { ids: many } = await tenantWith(3);
  const { store, release } = heldStore();
  startWorker(2, store);
  await waitFor('the first import to run', async () => (await stateOf(many[0] ?? '')) === 'importing');
  const { ids: few } = await tenantWith(1);
  await waitFor('the other organization to start', async () => (await stateOf(few[0] ?? '')) === 'importing');
  expect(await Promise.all(many.map(stateOf))).toEqual(['importing', 'queued', 'queued']);
  release();
  await waitFor('all imports to end', async () =>
    (await Promise.all([...many, ...few].map(stateOf))).every((state) => state === 'imported'),
  );
});

test('organizations with the fewest running imports start first, then those that waited longest', async () => {
  const organizations = await Promise.all([1, 2].map(() => buildOrganization(api)));
  const [first = '', second = ''] = organizations.map(({ organization }) => organization._id);
  const queue = async (organizationId: string) => {
    const options = {
      asNew: false,
      asMedia: false,
      publish: false,
      force: false,
      mediaBaseUrl: null,
      questionsPerStep: null,
      module: null,
    };
    const fields = { organizationId, fileName: 'a.zip', size: 1, metadata: '', options };
    const { _id } = await insertImport(api.db, { _id: randomUUID(), ...fields });
    await queueImport(api.db, _id);
    return _id;
  };
  const [running, next] = [await queue(first), await queue(first)];
  const waiting = async () =>
    (await listWaitingOrganizations(api.db)).filter(({ organizationId }) =>
      [first, second].includes(organizationId),
    );
  expect(await waiting()).toEqual([{ organizationId: first, running: 0, next: running }]);
  const claimed = await claimImport(api.db, running, 60_000);
  expect(await claimImport(api.db, running, 60_000)).toBeNull();
  const other = await queue(second);
  expect(await waiting()).toEqual([
    { organizationId: second, running: 0, next: other },
    { organizationId: first, running: 1, next },
  ]);
  // An expired lease lets another worker start an import, and its first worker can no longer end it.
  await api.db.lessonImports.updateOne({ _id: running }, { leaseUntil: new Date(0) });
  expect(await claimImport(api.db, running, 60_000)).not.toBeNull();
  const lost = { _id: running, leaseId: claimed?.leaseId ?? '' };
  const progress = { done: 0, total: 0, bytes: 0 };
  expect(await renewImport(api.db, lost, { leaseMs: 60_000, progress })).toBeNull();
  expect(await endImport(api.db, lost, { state: 'imported' })).toBe(false);
  await api.db.lessonImports.deleteMany({ organizationId: { $in: [first, second] } });
});

test('an import that is repeated after its version was stored makes no second version', async () => {
  const { ids } = await tenantWith(1);
  const [id = ''] = ids;
  const claimed = await claimImport(api.db, id, 60_000);
  if (claimed === null) throw new Error('the import is not queued');
  const run = { signal: new AbortController().signal, onProgress: () => undefined };
  const deps = { ...api, uploads, prebuild };
  const first = await runImport(deps, { ...claimed, options: { ...claimed.options, asNew: true } }, run);
  // The worker died before it recorded the result, and before the last writes of the import.
  await api.db.lessons.deleteOne({ _id: first.lessonId });
  const again = await runImport(deps, { ...claimed, options: { ...claimed.options, asNew: true } }, run);
  expect(again).toEqual(first);
  expect(await api.db.lessonVersions.countDocuments({ lessonId: first.lessonId })).toBe(1);
  expect(await api.db.lessons.countDocuments({ _id: first.lessonId })).toBe(1);
  await endImport(api.db, claimed, { state: 'imported', report: first });
});

test('a running import is canceled, and leaves no version and no file', async () => {
  const { tenant, ids } = await tenantWith(1);
  const [id = ''] = ids;
  const { store, release, writes } = heldStore();
  startWorker(1, store);
  await waitFor('the import to write', () => writes() > 0);
  const response = await fetch(`${api.url}/api/lessons/imports/${id}`, {
    method: 'DELETE',
    headers: tenant.headers,
  });
  expect(response.status).toBe(202);
  // The worker reads the request when it renews its lease.
  await waitFor('the worker to renew', async () => {
    const found = await findImport(api.db, id);
    const renewedAfter = found?.changedAt.getTime() ?? 0;
    return Number(found?.leaseUntil) > renewedAfter + 32_000;
  });
  release();
  await waitFor('the import to end', async () => (await stateOf(id)) === 'canceled');
  await waitFor('the file to be deleted', async () => (await findImport(api.db, id))?.hasUpload === false);
  expect((await statusOf(tenant, id)).report).toBeNull();
  await waitFor('the metric', async () => (await countedRuns()).canceled === 1);
});

test('a worker that shuts down returns its import to the queue; the next worker imports it', async () => {
  const { ids } = await tenantWith(1);
  const [id = ''] = ids;
  const { store, release, writes } = heldStore();
  const worker = startWorker(1, store);
  await waitFor('the import to write', () => writes() > 0);
  const aborts = vi.spyOn(AbortController.prototype, 'abort').mock;
  const closed = worker.close(0);
  await waitFor('the import to be stopped', () =>
    aborts.calls.some(([reason]) => String(reason).includes('shutting down')),
  );
  release();
  await closed;
  expect(await stateOf(id)).toBe('queued');
  startWorker(1);
  await waitFor('the import to end', async () => (await stateOf(id)) === 'imported');
  expect(await findImport(api.db, id)).toMatchObject({ starts: 1, failures: 0 });
  await waitFor('the metric', async () => Object.keys(await countedRuns()).length === 2);
  expect(await countedRuns()).toEqual({ given_back: 1, imported: 1 });
});
