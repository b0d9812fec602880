import { expect, test, vi } from 'vitest';
import { enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import { holdFile } from './held-file.ts';
import { expectArchive } from './lessons.ts';
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';
import { jobNamed } from './turns.ts';

vi.setConfig({ testTimeout: 90_000 });

interface Scrape {
  text: string;
  /**
   * Returns the value of a series in the metrics text, by name with labels; undefined if it is
   * missing.
   */
  value(series: string): number | undefined;
}

async function scrape(operations: string): Promise<Scrape> {
  const response = await fetch(`${operations}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const lines = new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
  return { text, value: (series) => lines.get(series) };
}

test('metrics report builds, waits, phases, bytes, downloads, cache and requests, without lessons or organizations', async () => {
  const fleet = await startFleet();
  const [api, worker] = await Promise.all([
    spawnApi(fleet.harness, { METRICS_PORT: '0' }),
    spawnWorker(fleet.harness, { WORKER_PORT: '0', WORKER_CONCURRENCY: '3' }),
  ]);
  const lesson = await fleet.publish([70_000, 30_000]);
  const broken = await fleet.publish([100]);
  const [missing] = broken.files;
  fleet.origin.script(missing?.path ?? '', (_request, response) => void response.writeHead(404).end());
  const answer = await fleet.request(api, lesson);
  await expectArchive(answer, lesson);
  expect((await fleet.request(api, broken)).status).toBe(200);

  const ofWorker = await scrape(worker.operations);
  const { text } = ofWorker;
  const value = (series: string) => ofWorker.value(series);
  expect(value('lectern_worker_slots')).toBe(3);
  expect(value('lectern_export_builds_running')).toBe(0);
  expect(value('lectern_export_wait_seconds_count')).toBe(2);
  for (const phase of ['plan', 'files', 'write', 'publish']) {
    expect(value(`lectern_export_build_phase_seconds_count{phase="${phase}"}`), phase).toBe(2);
  }
  expect(value('lectern_export_build_seconds_count{outcome="complete"}')).toBe(1);
  expect(value('lectern_export_build_seconds_count{outcome="incomplete"}')).toBe(1);
  expect(value('lectern_export_archive_bytes_total')).toBeGreaterThan(answer.bytes.length);
  expect(value('lectern_downloads_total{outcome="downloaded"}')).toBe(2);
  expect(value('lectern_downloads_total{outcome="not_found"}')).toBe(1);
  expect(value('lectern_download_bytes_total')).toBe(100_000);
  expect(value('lectern_media_cache_lookups_total{result="miss"}')).toBe(2);
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0);

  const ofApi = await scrape(api.operations);
  const route = '/api/lessons/:lessonId/versions/:versionId/export-zip';
  expect(ofApi.text).toContain(`route="${route}"`);
  expect(ofApi.value(`lectern_http_response_bytes_total{route="${route}"}`)).toBeGreaterThan(
    answer.bytes.length,
  );
  expect(ofApi.value('lectern_export_queue_jobs{state="completed"}')).toBe(2);
  expect(ofApi.value('lectern_workers')).toBe(1);
  for (const secret of [
    lesson.version.lessonId,
    lesson.version._id,
    lesson.version.slug,
    fleet.organization._id,
  ]) {
    expect(text).not.toContain(secret);
    expect(ofApi.text).not.toContain(secret);
  }
});

test('every metric name has its unit in Prometheus style', async () => {
  const fleet = await startFleet();
  const [api, worker] = await Promise.all([
    spawnApi(fleet.harness, { METRICS_PORT: '0' }),
    spawnWorker(fleet.harness, { WORKER_PORT: '0' }),
  ]);
  const texts = await Promise.all(
    [api, worker].map(async ({ operations }) => (await scrape(operations)).text),
  );
  const types = texts.flatMap((text) => [...text.matchAll(/^# TYPE (lectern_\S+) (\S+)$/gm)]);
  expect(types.length).toBeGreaterThan(12);
  for (const [, name = '', type] of types) {
    if (type === 'counter') expect(name).toMatch(/_total$/);
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    if (type === 'gauge') expect(name).not.toMatch(/_total$/);
  }
});

test('metrics describe the waiting queue: for readers, pre-builds, in progress, and for how long', async () => {
  const fleet = await startFleet({ WORKER_CONCURRENCY: '2' });
  const api = await spawnApi(fleet.harness, { METRICS_PORT: '0' });
  const { queue, state } = viewQueue(fleet.harness);
  const [unasked, first, second] = await Promise.all([1, 2, 3].map(() => fleet.publish([1000])));
  if (unasked === undefined || first === undefined || second === undefined) throw new Error('no lessons');
  const held = [unasked, first].map(({ files }) => {
    const file = holdFile(files[0]?.bytes ?? Buffer.alloc(0));
    fleet.origin.script(files[0]?.path ?? '', file.behaviour);
    return file;
  });
  const worker = await spawnWorker(fleet.harness, { WORKER_PORT: '0' });
  await enqueuePrebuild(queue, exportJobOf(unasked.version));
  const asked = [fleet.request(api, first)];
  for (const file of held) await file.reached;
  asked.push(fleet.request(api, second));
  await waitFor('the second', async () => (await state(second)) === 'prioritized', longTimeoutMs);
  await enqueuePrebuild(queue, jobNamed('a1'));

  const scraped = await scrape(api.operations);
  const value = (series: string) => scraped.value(series);
  expect(value('lectern_export_queue_jobs{state="waiting"}')).toBe(1);
  expect(value('lectern_export_queue_jobs{state="prebuild"}')).toBe(1);
  expect(value('lectern_export_queue_jobs{state="active"}')).toBe(1);
  expect(value('lectern_export_queue_jobs{state="active_prebuild"}')).toBe(1);
  expect(value('lectern_export_queue_oldest_waiting_seconds')).toBeGreaterThan(0);
  expect((await scrape(worker.operations)).value('lectern_export_builds_running')).toBe(2);
  for (const file of held) file.release();
  await Promise.all(asked);
  expect((await scrape(api.operations)).value('lectern_export_queue_oldest_waiting_seconds')).toBe(0);
});

test('metrics report waiting grades even without a worker', async () => {
  const { harness } = await startFleet();
  const api = await spawnApi(harness, { METRICS_PORT: '0' });
  const due = 'lectern_lti_scores_oldest_due_seconds';
  expect((await scrape(api.operations)).value(due)).toBe(0);
  await harness.db.ltiScores.collection.insertOne({
    ...{ linkId: 'a link', ltiUserId: 'a learner', platformId: 'a platform' },
    ...{ state: 'waiting', nextTryAt: new Date(Date.now() - 600_000) },
  });
  const scraped = await scrape(api.operations);
  expect(scraped.value('lectern_lti_scores{state="waiting"}')).toBe(1);
  expect(scraped.value(due)).toBeGreaterThanOrEqual(600);
});

test('a process reports liveness and readiness on a separate port', async () => {
  const fleet = await startFleet();
  const [api, worker] = await Promise.all([
    spawnApi(fleet.harness, { METRICS_PORT: '0' }),
    spawnWorker(fleet.harness, { WORKER_PORT: '0' }),
  ]);
  for (const { operations } of [api, worker]) {
    expect(await (await fetch(`${operations}/livez`)).json()).toEqual({ status: 'ok' });
    const ready = await fetch(`${operations}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({
      status: 'ok',
      checks: { mongodb: 'ok', redis: 'ok', store: 'ok' },
    });
    expect((await fetch(`${operations}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${operations}/openapi.json`)).status).toBe(404);
  }
  // The public port has no metrics either.
  expect((await fetch(`${api.address}/metrics`)).status).toBe(404);
});

test('a worker that finishes its last build turns from ready to not ready', async () => {
  const fleet = await startFleet();
  const [api, worker] = await Promise.all([
    spawnApi(fleet.harness),
    spawnWorker(fleet.harness, { WORKER_PORT: '0' }),
  ]);
  const lesson = await fleet.publish([1000]);
  const held = holdFile(lesson.files[0]?.bytes ?? Buffer.alloc(0));
  fleet.origin.script(lesson.files[0]?.path ?? '', held.behaviour);
  const asking = fleet.request(api, lesson);
  await held.reached;
  const readyz = async () => (await fetch(`${worker.operations}/readyz`)).json();
  expect(await readyz()).toMatchObject({ status: 'ok' });
  worker.signal('SIGTERM');
  await waitFor(
    'the shutdown to begin',
    async () => ((await readyz()) as { status: string }).status !== 'ok',
  );
  expect(await readyz()).toEqual({ status: 'unavailable', checks: { shutdown: 'failed' } });
  held.release();
  await expectArchive(await asking, lesson);
});
