import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectFailure, internalError } from '../support/answers.ts';
import { openQueue } from './open-queue.ts';
import type { OpenQueue } from './open-queue.ts';

let harness: Harness;
let queue: OpenQueue;
let tenant: Awaited<ReturnType<typeof buildOrganization>>;

beforeAll(async () => {
  harness = await startHarness();
  queue = await openQueue(harness);
  tenant = await buildOrganization(harness);
});
afterAll(async () => {
  await queue.close();
  await harness.close();
});

async function build(bytes = randomBytes(1000)): Promise<LessonVersion> {
  return buildVersion(harness, tenant.organization, (await buildPackage({ media: [{ bytes }] })).path);
}

const askAt = (address: string, version: LessonVersion) =>
  ask(address + exportPath(version), { headers: tenant.headers });

test('an archive that is not ready in time gets 500, its job continues, and the next request gets the archive', async () => {
  const address = await harness.startApi({ EXPORT_WAIT_SECONDS: '1' });
  const version = await build();
  const tooEarly = await askAt(address, version);
  const late = 'The archive is not ready in time: no worker is running. The export stays in the queue.';
  expectFailure(tooEarly, { ...internalError, message: late });
  expect(tooEarly.headers.get('retry-after')).toBe('10');
  expect(await queue.jobs.getJobState(exportJobOf(version).key)).toBe('prioritized');

  const endWorker = await harness.startWorker();
  await waitFor('the end of the job', () =>
    queue.jobs.getJob(exportJobOf(version).key).then((job) => job?.finishedOn),
  );
  expect((await askAt(address, version)).status).toBe(200);
  await endWorker();
});

test('a failed build gets 500 without another run until the backoff ends, then it is retried', async () => {
  const address = await harness.startApi();
  const endWorker = await harness.startWorker();
  const bytes = randomBytes(1000);
  const version = await build(bytes);
  // The disk returns different bytes than were written.
  const path = await pathOf(digestOf(bytes).sha256);
  await writeFile(path, randomBytes(1000));

  const first = await askAt(address, version);
  expectFailure(first, internalError);
  expect(first.headers.get('retry-after')).toBe('10');
  const failed = await queue.jobs.getJob(exportJobOf(version).key);
  expect(failed?.failedReason).toMatch(/^INTERNAL_ERROR: .* is damaged/);

  await writeFile(path, bytes);
  expectFailure(await askAt(address, version), internalError);
  const unchanged = await queue.jobs.getJob(exportJobOf(version).key);
  expect(unchanged?.processedOn).toBe(failed?.processedOn);

  await queue.endedBefore(version, 10_000);
  const repaired = await askAt(address, version);
  expect(repaired.status).toBe(200);
  expect(repaired.body.includes(await readFile(path))).toBe(true);
  await endWorker();
});

test('the log has the cause of a failed build, and its client learns no paths or hosts', async () => {
  const address = await harness.startApi();
  const version = await build();
  const { key } = exportJobOf(version);
  // A file replaces this archive's folder, so the store cannot read it.
  const folder = join(harness.config.storeDir, 'v1', 'archives', key.slice(1, 3));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, key), '');
  const answer = await askAt(address, version);
  expectFailure(answer, internalError);
  expect(answer.headers.get('retry-after')).toBe('10');
});

/** Returns the path of a file in the disk store, found by its name in any folder. */
async function pathOf(sha256: string): Promise<string> {
  const root = harness.config.storeDir;
  const name = (await readdir(root, { recursive: true })).find((path) => path.endsWith(sha256));
  return join(root, name ?? '');
}
