import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { startOwnRedis } from '../support/servers.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectArchive, longTimeoutMs, startFleet } from './fleet.ts';
import { spawnApi, spawnWorker } from './processes.ts';
import { jobNamed } from './scheduling.ts';

test('a worker that gets SIGTERM turns unready, finishes its export, leaves the waiting ones to others, and exits with 0', async () => {
  const fleet = await startFleet({ WORKER_CONCURRENCY: '1' });
  const [api, first] = await Promise.all([
    fleet.startApi(),
    spawnWorker(fleet.harness, { WORKER_PORT: '0' }),
  ]);
  const { lesson, held } = await fleet.publishHeld([2_000_000, 1_000_000]);
  const waiting = await fleet.publish([1000]);
  const { starts, state } = viewQueue(fleet.harness);
  const readyz = async () => (await fetch(`${first.operations}/readyz`)).json() as Promise<object>;

  const asked = fleet.request(api, lesson);
  await held.reached;
  expect(await readyz()).toMatchObject({ status: 'ok' });
  const askedNext = fleet.request(api, waiting);
  const isQueued = async () => (await state(waiting.version)) === 'prioritized';
  await waitFor('the second job in the queue', isQueued, longTimeoutMs);
  first.signal('SIGTERM');
  const unready = { status: 'unavailable', checks: { shutdown: 'failed' } };
  await expect.poll(readyz, { timeout: longTimeoutMs }).toMatchObject(unready);
  held.release();
  await expectArchive(await asked, lesson);
  expect(await first.ended).toBe('exit code 0');
  expect(await starts(lesson.version)).toBe(1);
  expect(await state(waiting.version)).toBe('prioritized');
  expect((await fleet.stored()).temporaries).toEqual([]);

  await fleet.startWorker();
  await expectArchive(await askedNext, waiting);
  expect(await starts(waiting.version)).toBe(1);
});

test('an export unfinished at shutdown is requeued at once, and an idle worker takes it', async () => {
  // With the lock alone, another worker would take over only after ten minutes.
  const fleet = await startFleet({ WORKER_LOCK_SECONDS: '600', SHUTDOWN_SECONDS: '4' });
  const [api, first] = await Promise.all([fleet.startApi(), fleet.startWorker()]);
  const { lesson, held } = await fleet.publishHeld([200_000]);
  const { lastJob, starts } = viewQueue(fleet.harness);

  const asked = fleet.request(api, lesson);
  await held.reached;
  await fleet.startWorker();
  await first.stop();
  await expectArchive(await asked, lesson);
  expect(await starts(lesson.version)).toBe(2);
  // An export does not fail, however many workers shut down in the middle of it.
  expect(await lastJob(lesson.version)).toMatchObject({ stalledCounter: 0, attemptsMade: 1 });
  expect((await fleet.stored()).temporaries).toEqual([]);
});

test('without Redis an API and a worker still shut down gracefully and soon', async () => {
  const redis = await startOwnRedis();
  onTestFinished(() => redis.stop());
  const { harness } = await startFleet({ REDIS_URL: redis.url });
  const [api, worker] = await Promise.all([spawnApi(harness), spawnWorker(harness)]);
  redis.kill();
  await redis.exited;
  api.signal('SIGTERM');
  worker.signal('SIGTERM');
  // A process that had to be forced because it waits for Redis exits with 1.
  expect(await Promise.all([api.ended, worker.ended])).toEqual(['exit code 0', 'exit code 0']);
});

test('a worker that fails to start takes no export', async () => {
  const fleet = await startFleet();
  const { jobs } = viewQueue(fleet.harness);
  const taken = createServer().listen(0, fleet.harness.config.host);
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const id = await enqueueExport(jobs, jobNamed('a1'));

  await expect(fleet.startWorker({ WORKER_PORT: String(port) })).rejects.toThrow();
  expect(await jobs.getJobState(id)).toBe('prioritized');
  await fleet.startWorker();
  await waitFor('its end', async () => (await jobs.getJobState(id)) === 'failed');
  expect((await jobs.getJob(id))?.attemptsStarted).toBe(1);
});
