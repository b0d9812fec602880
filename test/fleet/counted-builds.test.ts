import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { enqueuePrebuild, rerunEndedExport } from '../../shared/exports/enqueue.ts';
import { recordStart } from '../../shared/exports/job-lifecycle.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { saveExportRecord } from '../../shared/models/export-record.ts';
import { noCoordination } from '../../shared/coordination/coordination.ts';
import { Builds } from '../../worker/exports/builds.ts';
import { WorkerMetrics } from '../../worker/exports/metrics.ts';
import { processExport } from '../../worker/exports/process-export.ts';
import { startExportLab } from '../exports/lab.ts';
import type { ExportLab } from '../exports/lab.ts';
import { openQueue } from '../exports/open-queue.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jobNamed, lockToken, openTurns } from './turns.ts';

let lab: ExportLab;
beforeAll(async () => {
  lab = await startExportLab();
});
afterAll(() => lab.close());

test("a queued pre-build becomes a reader's export once a reader requests it", async () => {
  const turns = openTurns(lab.harness);
  const { queue, redis } = turns;
  const { key } = jobNamed('a1');
  await enqueuePrebuild(queue, jobNamed('a1'));
  await redis.hset(queue.toKey(key), 'timestamp', 1000);
  const asked = Date.now();
  await ask(turns, 'a1');
  expect((await queue.getJob(key))?.timestamp).toBeGreaterThanOrEqual(asked - 1000);
});

test('an export counts its first start once, however often it is requeued, until it is requested again', async () => {
  const turns = openTurns(lab.harness);
  const { key } = jobNamed('a1');
  await ask(turns, 'a1');
  const job = await turns.startJob();
  expect(await recordStart(turns.queue, key)).toBe(false);
  await job?.moveToWait(lockToken);
  const again = await turns.startJob();
  expect(await recordStart(turns.queue, key)).toBe(false);
  await again?.moveToCompleted({ size: 1, files: 1, failures: 0 }, lockToken);
  const ended = await turns.queue.getJob(key);
  if (ended === undefined) throw new Error('The job is gone');
  await rerunEndedExport(turns.queue, ended, 'completed');
  expect(await recordStart(turns.queue, key)).toBe(true);
});

test('an archive that already exists does not count as a build', async () => {
  const { harness } = lab;
  const turns = openTurns(harness);
  await ask(turns, 'a1');
  const job = await turns.startJob();
  if (job === undefined) throw new Error('No job waits');
  const { key } = jobNamed('a1');
  const archive = { size: 10, sha256: 'a'.repeat(64) };
  const draft = await harness.store.archives.create();
  await draft.write([Buffer.alloc(archive.size)]);
  await draft.publish(key, archive.sha256);
  await draft.discard();
  const record = { exportKey: key, contentDigest: 'd', exportedAt: new Date(), archive, entries: [] };
  await saveExportRecord(harness.db, record);

  const { db, store, config } = harness;
  const downloader = createDownloader(config.download);
  onTestFinished(() => downloader.close());
  const metrics = new WorkerMetrics({ slots: 1, running: () => 0 });
  const build = { db, store, downloader, coordination: noCoordination, config };
  const log = createLogger(config, 'test');
  await processExport({ build, queue: turns.queue, builds: new Builds(), metrics, log }, job, lockToken);
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/^lectern_export_archive_bytes_total 0$/m);
  expect(text).not.toContain('outcome=');
});

test("a build that lost its lock does not count in its organization's fair share", async () => {
  const { version, held } = await lab.buildHeld();
  onTestFinished(() => held.release());
  const queue = await openQueue(lab.harness);
  onTestFinished(() => queue.close());
  const job = exportJobOf(version);
  await enqueuePrebuild(queue.jobs, job);
  onTestFinished(await lab.harness.startWorker({ SHUTDOWN_SECONDS: '2' }));
  await held.reached;
  const before = await queue.jobs.getJob(job.key);
  await queue.jobs.redis.del(queue.jobs.toKey(`${job.key}:lock`));
  const find = () => queue.jobs.getJob(job.key);
  await waitFor('its second start', async () => ((await find())?.attemptsStarted ?? 0) > 1, 20_000);
  const after = await find();
  expect(after?.priority).toBe(before?.priority);
  expect(after?.attemptsMade).toBe(0);
});
