import { expect, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { file } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectArchive, expectCleanFailure, startFleet } from '../fleet/fleet.ts';
import { holdFile } from '../fleet/held-file.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { printFigure } from './measure.ts';

/** As in worker/exports/process-export.ts. */
const starts = 10;

test('an export that kills each of its workers fails for good with a reason, and others continue', async () => {
  const fleet = await startFleet({ WORKER_LOCK_SECONDS: '2' });
  const api = await spawnApi(fleet.harness);
  const lesson = await fleet.publish([1000]);
  const other = await fleet.publish([2000]);
  const [deadly] = lesson.files;
  if (deadly === undefined) throw new Error('The lesson has no files');
  fleet.origin.script(deadly.path, holdFile(deadly.bytes).behavior);
  const { jobs } = viewQueue(fleet.harness);

  const started = performance.now();
  const asked = fleet.request(api, lesson);
  for (let start = 1; start <= starts; start += 1) {
    const worker = await spawnWorker(fleet.harness);
    await waitFor(`start ${start}`, () => fleet.origin.requests(deadly.path) === start, 60_000);
    await worker.kill();
  }
  await spawnWorker(fleet.harness);
  expectCleanFailure(await asked);
  const job = await jobs.getJob(exportJobOf(lesson.version).key);
  expect(job?.failedReason).toMatch(/^INTERNAL_ERROR: Given up after 10 starts/);
  expect(fleet.origin.requests(deadly.path)).toBe(starts);
  printFigure('an export that kills its workers', {
    'workers killed': starts,
    'seconds until it was given up': (performance.now() - started) / 1000,
  });

  await expectArchive(await fleet.request(api, other), other);
  // The cause is fixed: the next request after the failure backoff gets a build.
  fleet.origin.script(deadly.path, file(deadly.bytes));
  const answer = await waitFor(
    'the export after its cause is fixed',
    async () => {
      const again = await fleet.request(api, lesson);
      return again.status === 200 ? again : null;
    },
    60_000,
  );
  await expectArchive(answer, lesson);
});
