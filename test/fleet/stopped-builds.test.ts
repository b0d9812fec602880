import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { enqueueExport, countJobsAhead, enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { findCancelled, isCancelled, requestCancellation } from '../../shared/exports/cancel.ts';
import { prebuildClass } from '../../shared/exports/fair-scheduling.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { startExportLab } from '../exports/lab.ts';
import type { ExportLab } from '../exports/lab.ts';
import { openQueue } from '../exports/open-queue.ts';
import type { OpenQueue } from '../exports/open-queue.ts';
import { waitFor } from '../support/wait-for.ts';
import { jobNamed } from './turns.ts';

let lab: ExportLab;
let queue: OpenQueue;
beforeAll(async () => {
  lab = await startExportLab({ WORKER_CONCURRENCY: '1' });
  queue = await openQueue(lab.harness);
});
afterAll(async () => {
  await queue.close();
  await lab.close();
});

/** An export whose build is paused in the middle. */
async function startHeld(ask: typeof enqueuePrebuild, settings?: Record<string, string>) {
  const { version, held } = await lab.buildHeld();
  onTestFinished(() => held.release());
  const job = exportJobOf(version);
  await ask(queue.jobs, job);
  const stop = await lab.harness.startWorker(settings);
  onTestFinished(stop);
  await held.reached;
  return { job, held, stop };
}

const askAsReader: typeof enqueuePrebuild = (jobs, job) => enqueueExport(jobs, job, null);
const stateOf = (key: string) => queue.jobs.getJobState(key);

test("a request to cancel ends with the build it stopped: an operator's retry is built", async () => {
  const { job, held } = await startHeld(askAsReader);
  await requestCancellation(queue.jobs, job.key);
  await waitFor('its end', async () => (await stateOf(job.key)) === 'failed');
  expect(await findCancelled(queue.jobs, [job.key])).toEqual([]);
  held.release();
  await (await queue.jobs.getJob(job.key))?.retry('failed');
  await waitFor('the archive', async () => (await stateOf(job.key)) === 'completed');
});

test('a worker that shuts down still notices the cancellation of its build', async () => {
  const { job, stop } = await startHeld(askAsReader, { SHUTDOWN_SECONDS: '12' });
  const stopping = stop();
  await requestCancellation(queue.jobs, job.key);
  await stopping;
  expect(isCancelled((await queue.jobs.getJob(job.key))?.failedReason)).toBe(true);
});

test("a pre-build that a reader requested is requeued with a reader's priority", async () => {
  const { job, stop } = await startHeld(enqueuePrebuild, { SHUTDOWN_SECONDS: '2' });
  await enqueueExport(queue.jobs, job, null);
  await stop();
  expect(await stateOf(job.key)).toBe('prioritized');
  expect((await queue.jobs.getJob(job.key))?.priority).toBeLessThan(prebuildClass.base);
  await queue.jobs.remove(job.key);
});

test('a requeued export comes before those that were requested after its start', async () => {
  const { job, stop } = await startHeld(askAsReader, { SHUTDOWN_SECONDS: '2' });
  await enqueueExport(queue.jobs, jobNamed('other1'), null);
  await stop();
  expect(await stateOf(job.key)).toBe('prioritized');
  expect(await countJobsAhead(queue.jobs, job.key)).toBe(0);
});
