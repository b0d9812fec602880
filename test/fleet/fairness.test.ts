import { expect, test, vi } from 'vitest';
import { enqueueExport, enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import { holdFile } from './held-file.ts';
import { longTimeoutMs, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';
import { jobNamed, namesOf } from './turns.ts';

vi.setConfig({ testTimeout: 90_000 });

test("workers busy with one of an organization's 500 exports build another organization's export next", async () => {
  const fleet = await startFleet({ WORKER_CONCURRENCY: '1' });
  const { queue, happened } = viewQueue(fleet.harness);
  const lesson = await fleet.publish([100_000]);
  const [first] = lesson.files;
  if (first === undefined) throw new Error('The lesson has no files');
  const held = holdFile(first.bytes);
  fleet.origin.script(first.path, held.behaviour);

  // The first is held; the others have no version, so each fails on start.
  const running = exportJobOf(lesson.version);
  const others = namesOf('many', 499).map(jobNamed);
  const waiting = others.map((job) => ({ ...job, organizationId: running.organizationId }));
  const prebuilt = jobNamed('prebuilt1');
  const single = jobNamed('single1');
  await enqueueExport(queue, running, null);
  for (const job of waiting) await enqueueExport(queue, job, null);
  await enqueuePrebuild(queue, prebuilt);
  await spawnWorker(fleet.harness);
  await held.reached;
  await enqueueExport(queue, single, null);
  held.release();

  const all = [running, single, ...waiting, prebuilt].map(({ key }) => key);
  const ended = async () => (await happened('active')).length === all.length;
  await waitFor('all builds', ended, longTimeoutMs);
  expect(await happened('active')).toEqual(all);
});
