import { expect, test, vi } from 'vitest';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { isCancelled, requestCancellation } from '../../shared/exports/cancel.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { file } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { holdFile } from './held-file.ts';
import type { HeldFile } from './held-file.ts';
import { expectArchive, expectCleanFailure } from './lessons.ts';
import type { PublishedLesson } from './lessons.ts';
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';

vi.setConfig({ testTimeout: 90_000 });

/** A lesson whose file is paused for the first request. */
async function publishHeld(fleet: Fleet): Promise<{ lesson: PublishedLesson; held: HeldFile }> {
  const lesson = await fleet.publish([200_000]);
  const [last] = lesson.files;
  if (last === undefined) throw new Error('The lesson has no files');
  const held = holdFile(last.bytes);
  fleet.origin.script(last.path, held.behaviour, file(last.bytes));
  return { lesson, held };
}

test('an export unfinished at shutdown is requeued at once, and an idle worker takes it', async () => {
  // With the lock alone, another worker would take over only after ten minutes.
  const fleet = await startFleet({ WORKER_LOCK_SECONDS: '600', SHUTDOWN_SECONDS: '4' });
  const [api, first] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  const { lesson, held } = await publishHeld(fleet);
  const { queue, starts } = viewQueue(fleet.harness);

  const asked = fleet.request(api, lesson);
  await held.reached;
  const second = await spawnWorker(fleet.harness);
  first.signal('SIGTERM');
  await expectArchive(await asked, lesson);
  expect(await first.ended).toBe('exit code 0');
  expect(await starts(lesson)).toBe(2);
  // An export does not fail, however many workers shut down in the middle of it.
  expect((await queue.getJob(exportJobOf(lesson.version).key))?.attemptsStarted).toBe(1);
  expect((await fleet.stored()).temporaries).toEqual([]);
  await second.kill();
});

test('an export that was started ten times and never ended fails with that reason, until it is requested again', async () => {
  const fleet = await startFleet();
  const api = await spawnApi(fleet.harness);
  const lesson = await fleet.publish([1000]);
  const { queue, startOften, state } = viewQueue(fleet.harness);
  const { key } = exportJobOf(lesson.version);

  const asked = fleet.request(api, lesson);
  await waitFor('the job', async () => (await state(lesson)) === 'prioritized', longTimeoutMs);
  await startOften(lesson, 10);
  await spawnWorker(fleet.harness);
  expectCleanFailure(await asked);
  expect((await queue.getJob(key))?.failedReason).toMatch(/^INTERNAL_ERROR: Given up after 10 starts/);

  await (await queue.getJob(key))?.retry('failed', { resetAttemptsStarted: true });
  await waitFor('the archive', async () => (await state(lesson)) === 'completed', longTimeoutMs);
  await expectArchive(await fleet.request(api, lesson), lesson);
});

test('a cancelled export stops, frees its slot for the next, and is built when it is requested again', async () => {
  const fleet = await startFleet({ WORKER_CONCURRENCY: '1' });
  const [api] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  const { lesson, held } = await publishHeld(fleet);
  const next = await fleet.publish([1000]);
  const { queue, state } = viewQueue(fleet.harness);
  const job = exportJobOf(lesson.version);

  await enqueueExport(queue, job, null);
  await held.reached;
  expect(await requestCancellation(queue, job.key)).toBe('stopping');
  await expectArchive(await fleet.request(api, next), next);
  expect(await state(lesson)).toBe('failed');
  expect(isCancelled((await queue.getJob(job.key))?.failedReason)).toBe(true);
  await expectArchive(await fleet.request(api, lesson), lesson);
});
