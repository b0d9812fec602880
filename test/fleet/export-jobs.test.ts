import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'bullmq';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cancelOpenJob } from '../../shared/exports/cancel.ts';
import { enqueueExport, enqueuePrebuild, prebuildPriority } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import { ExportQueue } from '../../shared/exports/queues.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { removeUnusedQueues } from '../../worker/exports/upkeep.ts';
import { useExportLab } from '../exports/lab.ts';
import { openQueue } from '../exports/open-queue.ts';
import { expectFailure, internalError, jsonOf } from '../support/answers.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { jobNamed, openTestQueue } from './scheduling.ts';

const lab = useExportLab();
const queue = useStarted(
  () => openQueue(lab.harness),
  (opened) => opened.close(),
);

const stateOf = (version: LessonVersion) => queue.state(version);

async function startWorker(settings?: Record<string, string>): Promise<() => Promise<void>> {
  const stop = await lab.harness.startWorker(settings);
  onTestFinished(stop);
  return stop;
}

/** Starts an export whose build is paused in the middle. */
async function startHeld(
  enqueueAs: (jobs: ExportQueue, job: ExportJob) => Promise<unknown>,
  settings?: Record<string, string>,
) {
  const { version, held } = await lab.buildHeld();
  onTestFinished(() => held.release());
  const job = exportJobOf(version);
  await enqueueAs(queue.jobs, job);
  const stop = await startWorker(settings);
  await held.reached;
  return { version, job, held, stop };
}

describe('a running export', () => {
  test("that was canceled is built by an operator's retry", async () => {
    const { version, job, held } = await startHeld(enqueueExport);
    expect(await cancelOpenJob(queue.jobs, job)).toBe('stopping');
    await waitFor('its end', async () => (await stateOf(version)) === 'failed');
    held.release();
    await (await queue.lastJob(version))?.retry('failed');
    await waitFor('the archive', async () => (await stateOf(version)) === 'completed');
  });

  test('that is a pre-build goes back to the queue as an export of the request that has asked for it meanwhile', async () => {
    const { version, job, stop } = await startHeld(enqueuePrebuild, { SHUTDOWN_SECONDS: '2' });
    await enqueueExport(queue.jobs, job);
    await stop();
    const returned = await queue.lastJob(version);
    expect(await returned?.getState()).toMatch(/delayed|prioritized/);
    expect(returned?.priority).toBeLessThan(prebuildPriority);
    await returned?.remove();
  });
});

test('a job that ends its worker three times fails, and is built when it is requested again', async () => {
  const version = await lab.build();
  const asked = lab.get(version);
  await waitFor('the job', async () => (await stateOf(version)) === 'prioritized');
  const { redisPrefix: prefix } = lab.harness.config;
  const dying = new Worker(queue.jobs.name, null, {
    ...{ connection: queue.jobs.redis.duplicate({ maxRetriesPerRequest: null }), prefix },
    ...{ lockDuration: 50, stalledInterval: 50, maxStalledCount: 1000 },
  });
  onTestFinished(() => dying.close(true));
  await dying.startStalledCheckTimer();
  for (let stalls = 0; stalls < 3; stalls += 1) {
    expect(await dying.getNextJob('a worker that dies', { block: false })).toBeDefined();
    await waitFor('another worker to notice', async () => (await stateOf(version)) === 'waiting');
  }
  await dying.close(true);
  await startWorker();
  expectFailure(await asked, internalError);
  expect((await queue.lastJob(version))?.failedReason).toMatch(/^INTERNAL_ERROR: Given up after 3 starts/);
  await queue.endBackoff(version);
  expect((await lab.get(version)).status).toBe(200);
});

test('a failing build runs once in ten seconds however many clients poll, and each gets the stored failure', async () => {
  await startWorker();
  const version = await lab.build();
  await lab.harness.db.lessonContents.deleteMany({ versionId: version._id });
  const poll = () => Promise.all(Array.from({ length: 20 }, () => lab.get(version)));
  const answers = await poll();
  for (let round = 0; round < 5; round += 1) {
    answers.push(...(await poll()));
    await delay(20);
  }
  for (const answer of answers) {
    expect(answer.status).toBe(422);
    expect(jsonOf(answer)).toMatchObject({ message: 'The content of this version is missing.' });
  }
  expect(await queue.starts(version)).toBe(1);
  expect(await lab.statusOf(version)).toMatchObject({ status: 'failed' });
  await queue.endBackoff(version);
  await poll();
  expect(await queue.starts(version)).toBe(2);
});

test('a worker leaves an archive with the player of another release to others, and builds what it can', async () => {
  const version = await lab.build();
  const other = exportJobOf(version, 'player:0.0.1-00000000');
  const id = await enqueueExport(queue.jobs, other);
  await startWorker({ WORKER_CONCURRENCY: '1' });
  await waitFor('its return', async () => (await queue.jobs.getJobState(id)) === 'delayed');
  expect((await lab.get(version)).status).toBe(200);
  expect((await queue.jobs.getJob(id))?.attemptsMade).toBe(0);
  await queue.jobs.remove(id);
});

test('queues of other archive formats are removed when no worker has served them for a day', async () => {
  const { queue: own, redis, redisPrefix } = openTestQueue(lab.harness);
  const older = new ExportQueue(redis, { redisPrefix }, 'exports-0.9.0-1');
  await older.add('export', jobNamed('a1'));
  const now = Date.now();
  await removeUnusedQueues(older, { redisPrefix }, now - 23 * 3_600_000);
  await removeUnusedQueues(own, { redisPrefix }, now);
  expect(await older.getWaitingCount()).toBe(1);
  await removeUnusedQueues(own, { redisPrefix }, now + 2 * 3_600_000);
  expect(await older.getWaitingCount()).toBe(0);
});
