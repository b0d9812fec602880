import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { openQueue } from '../exports/open-queue.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { jobNamed } from './turns.ts';

test('a worker that fails to start takes no export', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const queue = await openQueue(harness);
  onTestFinished(() => queue.close());
  const taken = createServer().listen(0, harness.config.host);
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { key } = jobNamed('a1');
  await enqueueExport(queue.jobs, jobNamed('a1'), null);

  await expect(harness.startWorker({ WORKER_PORT: String(port) })).rejects.toThrow();
  expect(await queue.jobs.getJobState(key)).toBe('prioritized');
  await harness.startWorker();
  await waitFor('its end', async () => (await queue.jobs.getJobState(key)) === 'failed');
  expect((await queue.jobs.getJob(key))?.attemptsStarted).toBe(1);
});
