import { UnrecoverableError } from 'bullmq';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { findCancelled, isCancelled, requestCancellation } from '../../shared/exports/cancel.ts';
import {
  countJobsAhead,
  enqueueExport,
  enqueuePrebuild,
  rerunEndedExport,
} from '../../shared/exports/enqueue.ts';
import { prebuildClass } from '../../shared/exports/fair-scheduling.ts';
import { recordStart } from '../../shared/exports/job-lifecycle.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { saveExportRecord } from '../../shared/models/export-record.ts';
import { noCoordination } from '../../shared/coordination/coordination.ts';
import { Builds } from '../../worker/exports/builds.ts';
import { WorkerMetrics } from '../../worker/exports/metrics.ts';
import { processExport } from '../../worker/exports/process-export.ts';
import { useExportLab } from '../exports/lab.ts';
import { openQueue } from '../exports/open-queue.ts';
import { expectFailure, internalError } from '../support/answers.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { enqueue, jobNamed, lockToken, openTestQueue } from './scheduling.ts';

const lab = useExportLab({ WORKER_CONCURRENCY: '1' });
const queue = useStarted(
  () => openQueue(lab.harness),
  (opened) => opened.close(),
);

const job = jobNamed('a1');

describe('a cancellation', () => {
  test('waits for a request that polls, and no longer for one that has not polled for a while', async () => {
    const { queue: own, redis } = openTestQueue(lab.harness);
    await enqueueExport(own, job, 'crashed');
    expect(await requestCancellation(own, job.key)).toBe('wanted');
    const waiters = own.toKey(`waiters:${job.key}`);
    const [seconds] = await redis.time();
    const left = Number(await redis.zscore(waiters, 'crashed')) - Number(seconds);
    expect(left).toBeGreaterThan(5);
    expect(left).toBeLessThanOrEqual(15);
    await redis.zadd(waiters, Number(seconds), 'crashed');
    expect(await requestCancellation(own, job.key)).toBe('removed');
  });

  test('that would stop a running job is cleared by a request for its archive', async () => {
    const scheduler = openTestQueue(lab.harness);
    const running = [jobNamed('a1').key, jobNamed('b1').key];
    await enqueue(scheduler, 'a1', 'b1');
    await scheduler.start();
    await scheduler.start();
    expect(await requestCancellation(scheduler.queue, job.key)).toBe('stopping');
    expect(await findCancelled(scheduler.queue, running)).toEqual([job.key]);
    await enqueueExport(scheduler.queue, job, 'one');
    expect(await findCancelled(scheduler.queue, running)).toEqual([]);
  });

  test('does nothing to a finished job, which operators can still see', async () => {
    const scheduler = openTestQueue(lab.harness);
    await enqueue(scheduler, 'a1');
    const started = await scheduler.startJob();
    await started?.moveToFailed(new UnrecoverableError('for the test'), lockToken);
    expect(await requestCancellation(scheduler.queue, job.key)).toBe('none');
    expect(await scheduler.queue.getJobState(job.key)).toBe('failed');
  });
});

/** Starts an export whose build is paused in the middle. */
async function startHeld(enqueueAs: typeof enqueuePrebuild, settings?: Record<string, string>) {
  const { version, held } = await lab.buildHeld();
  onTestFinished(() => held.release());
  const heldJob = exportJobOf(version);
  await enqueueAs(queue.jobs, heldJob);
  const stop = await lab.harness.startWorker(settings);
  onTestFinished(stop);
  await held.reached;
  return { key: heldJob.key, job: heldJob, held, stop };
}

const asReader: typeof enqueuePrebuild = (jobs, one) => enqueueExport(jobs, one, null);
const stateOf = (key: string) => queue.jobs.getJobState(key);

describe('a running export', () => {
  test("that was cancelled is built by an operator's retry", async () => {
    const { key, held } = await startHeld(asReader);
    await requestCancellation(queue.jobs, key);
    await waitFor('its end', async () => (await stateOf(key)) === 'failed');
    expect(await findCancelled(queue.jobs, [key])).toEqual([]);
    held.release();
    await (await queue.jobs.getJob(key))?.retry('failed');
    await waitFor('the archive', async () => (await stateOf(key)) === 'completed');
  });

  test('can be cancelled while its worker shuts down', async () => {
    const { key, stop } = await startHeld(asReader, { SHUTDOWN_SECONDS: '12' });
    const stopping = stop();
    await requestCancellation(queue.jobs, key);
    await stopping;
    expect(isCancelled((await queue.jobs.getJob(key))?.failedReason)).toBe(true);
  });

  test("that is a pre-build and was requested by a reader is requeued with a reader's priority, ahead of later ones", async () => {
    const { job: held, key, stop } = await startHeld(enqueuePrebuild, { SHUTDOWN_SECONDS: '2' });
    await enqueueExport(queue.jobs, held, null);
    await enqueueExport(queue.jobs, jobNamed('other1'), null);
    await stop();
    expect(await stateOf(key)).toBe('prioritized');
    expect((await queue.jobs.getJob(key))?.priority).toBeLessThan(prebuildClass.base);
    await queue.jobs.remove(key);
    await queue.jobs.remove(jobNamed('other1').key);
  });

  test('is requeued before exports that were requested after its start', async () => {
    const { key, stop } = await startHeld(asReader, { SHUTDOWN_SECONDS: '2' });
    await enqueueExport(queue.jobs, jobNamed('other1'), null);
    await stop();
    expect(await stateOf(key)).toBe('prioritized');
    expect(await countJobsAhead(queue.jobs, key)).toBe(0);
    await queue.jobs.remove(key);
    await queue.jobs.remove(jobNamed('other1').key);
  });

  test("that lost its lock does not count in its organization's fair share", async () => {
    const { key } = await startHeld(enqueuePrebuild, { SHUTDOWN_SECONDS: '2', WORKER_CONCURRENCY: '2' });
    const before = await queue.jobs.getJob(key);
    await queue.jobs.redis.del(queue.jobs.toKey(`${key}:lock`));
    const find = () => queue.jobs.getJob(key);
    await waitFor('its second start', async () => ((await find())?.attemptsStarted ?? 0) > 1, 20_000);
    expect(await find()).toMatchObject({ priority: before?.priority, attemptsMade: 0 });
  });
});

test('an export that was started ten times and never ended fails with that reason, until it is requested again', async () => {
  const version = await lab.build();
  const { key } = exportJobOf(version);
  const asked = lab.get(version);
  await waitFor('the job', async () => (await queue.state(version)) === 'prioritized');
  await queue.jobs.redis.hset(queue.jobs.toKey(key), 'ats', 10);
  onTestFinished(await lab.harness.startWorker());
  expectFailure(await asked, internalError);
  expect((await queue.jobs.getJob(key))?.failedReason).toMatch(/^INTERNAL_ERROR: Given up after 10 starts/);
  await queue.endedBefore(version, 10_000);
  expect((await lab.get(version)).status).toBe(200);
});

describe('counts', () => {
  test("a pre-build's wait from the time at which a reader requests it", async () => {
    const scheduler = openTestQueue(lab.harness);
    const { queue: own, redis } = scheduler;
    await enqueuePrebuild(own, job);
    await redis.hset(own.toKey(job.key), 'timestamp', 1000);
    const asked = Date.now();
    await enqueue(scheduler, 'a1');
    expect((await own.getJob(job.key))?.timestamp).toBeGreaterThanOrEqual(asked - 1000);
  });

  test('the first start once, however often the job is requeued, until it is requested again', async () => {
    const scheduler = openTestQueue(lab.harness);
    await enqueue(scheduler, 'a1');
    const first = await scheduler.startJob();
    expect(await recordStart(scheduler.queue, job.key)).toBe(false);
    await first?.moveToWait(lockToken);
    const again = await scheduler.startJob();
    expect(await recordStart(scheduler.queue, job.key)).toBe(false);
    await again?.moveToCompleted({ size: 1, files: 1, failures: 0 }, lockToken);
    const ended = await scheduler.queue.getJob(job.key);
    if (ended === undefined) throw new Error('The job is gone');
    await rerunEndedExport(scheduler.queue, ended, 'completed');
    expect(await recordStart(scheduler.queue, job.key)).toBe(true);
  });

  test('no build for an archive that already exists', async () => {
    const { db, store, config } = lab.harness;
    const scheduler = openTestQueue(lab.harness);
    await enqueue(scheduler, 'a1');
    const started = await scheduler.startJob();
    if (started === undefined) throw new Error('No job waits');
    const { key } = job;
    const archive = { size: 10, sha256: 'a'.repeat(64) };
    const draft = await store.archives.create();
    await draft.write([Buffer.alloc(archive.size)]);
    await draft.publish(key, archive.sha256);
    await draft.discard();
    const { organizationId } = job;
    const record = { exportKey: key, contentDigest: 'd', exportedAt: new Date(), archive, entries: [] };
    await saveExportRecord(db, { ...record, organizationId });

    const downloader = createDownloader(config.download);
    onTestFinished(() => downloader.close());
    const metrics = new WorkerMetrics({ slots: 1, running: () => 0 });
    const build = { db, store, downloader, coordination: noCoordination, config };
    const log = createLogger(config, 'test');
    const deps = { build, queue: scheduler.queue, builds: new Builds(), metrics, log };
    await processExport(deps, started, lockToken);
    const text = await metrics.registry.metrics();
    expect(text).toMatch(/^lectern_export_archive_bytes_total 0$/m);
    expect(text).not.toContain('outcome=');
  });
});
