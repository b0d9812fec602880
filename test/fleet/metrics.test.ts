import { expect, test } from 'vitest';
import { enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectArchive, longTimeoutMs, startFleet } from './fleet.ts';
import { jobNamed } from './scheduling.ts';

interface Scrape {
  text: string;
  /** Returns the value of a series, by name with labels; undefined if it is missing. */
  value: (series: string) => number | undefined;
}

async function scrape(operations: string): Promise<Scrape> {
  const response = await fetch(`${operations}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const series = new Map(lines.map((line) => line.split(/ (?=\S+$)/) as [string, string]));
  const value = (name: string) => (series.has(name) ? Number(series.get(name)) : undefined);
  return { text, value };
}

test('metrics report builds, waits, phases, bytes, downloads, cache and requests, without lessons or organizations', async () => {
  const fleet = await startFleet();
  const api = await fleet.startApi({ METRICS_PORT: '0' });
  const worker = await fleet.startWorker({ WORKER_PORT: '0', WORKER_CONCURRENCY: '3' });
  const lesson = await fleet.publish([70_000, 30_000]);
  const broken = await fleet.publish([100]);
  const [missing] = broken.files;
  fleet.origin.script(missing?.path ?? '', (_request, response) => void response.writeHead(404).end());
  const answer = await fleet.request(api, lesson);
  await expectArchive(answer, lesson);
  expect((await fleet.request(api, broken)).status).toBe(200);

  const ofWorker = await scrape(worker.operations);
  const phases = ['plan', 'files', 'write', 'publish'].map((phase) => [
    `lectern_export_build_phase_seconds_count{phase="${phase}"}`,
    2,
  ]);
  const expected: Record<string, number> = {
    lectern_worker_slots: 3,
    lectern_export_builds_running: 0,
    lectern_export_wait_seconds_count: 2,
    ...(Object.fromEntries(phases) as Record<string, number>),
    'lectern_export_build_seconds_count{outcome="complete"}': 1,
    'lectern_export_build_seconds_count{outcome="incomplete"}': 1,
    'lectern_downloads_total{outcome="downloaded"}': 2,
    'lectern_downloads_total{outcome="not_found"}': 1,
    lectern_download_bytes_total: 100_000,
    'lectern_media_cache_lookups_total{result="miss"}': 2,
  };
  const found = Object.keys(expected).map((series) => [series, ofWorker.value(series)]);
  expect(Object.fromEntries(found)).toEqual(expected);
  expect(ofWorker.value('lectern_export_archive_bytes_total')).toBeGreaterThan(answer.body.length);
  expect(ofWorker.value('process_cpu_seconds_total')).toBeGreaterThan(0);

  const ofApi = await scrape(api.operations);
  const route = '/api/lessons/:lessonId/versions/:versionId/export-zip';
  expect(ofApi.text).toContain(`route="${route}"`);
  expect(ofApi.value(`lectern_http_response_bytes_total{route="${route}"}`)).toBeGreaterThan(
    answer.body.length,
  );
  expect(ofApi.value('lectern_export_queue_jobs{state="completed"}')).toBe(2);
  expect(ofApi.value('lectern_workers')).toBe(1);
  const { lessonId, _id, slug } = lesson.version;
  for (const secret of [lessonId, _id, slug, fleet.organization._id]) {
    expect(ofWorker.text).not.toContain(secret);
    expect(ofApi.text).not.toContain(secret);
  }

  // Every name has its unit in Prometheus style.
  const types = [...`${ofApi.text}\n${ofWorker.text}`.matchAll(/^# TYPE (lectern_\S+) (\S+)$/gm)];
  expect(types.length).toBeGreaterThan(12);
  for (const [, name = '', type] of types) {
    if (type === 'counter') expect(name).toMatch(/_total$/);
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    if (type === 'gauge') expect(name).not.toMatch(/_total$/);
  }
});

test('an API and a worker report liveness and readiness on a separate port', async () => {
  const fleet = await startFleet();
  const api = await fleet.startApi({ METRICS_PORT: '0' });
  const worker = await fleet.startWorker({ WORKER_PORT: '0' });
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

test('metrics describe the waiting queue: for readers, pre-builds, in progress, and for how long', async () => {
  const fleet = await startFleet({ WORKER_CONCURRENCY: '2' });
  const api = await fleet.startApi({ METRICS_PORT: '0' });
  const { jobs, state } = viewQueue(fleet.harness);
  const [unasked, first] = [await fleet.publishHeld([1000]), await fleet.publishHeld([1000])];
  const second = await fleet.publish([1000]);
  const worker = await fleet.startWorker({ WORKER_PORT: '0' });
  await enqueuePrebuild(jobs, exportJobOf(unasked.lesson.version));
  const asked = [fleet.request(api, first.lesson)];
  for (const { held } of [unasked, first]) await held.reached;
  asked.push(fleet.request(api, second));
  await waitFor('the second', async () => (await state(second.version)) === 'prioritized', longTimeoutMs);
  await enqueuePrebuild(jobs, jobNamed('a1'));

  const { value } = await scrape(api.operations);
  const inState = (name: string) => value(`lectern_export_queue_jobs{state="${name}"}`);
  expect(['waiting', 'prebuild', 'active', 'active_prebuild'].map(inState)).toEqual([1, 1, 1, 1]);
  expect(value('lectern_export_queue_oldest_waiting_seconds')).toBeGreaterThan(0);
  expect((await scrape(worker.operations)).value('lectern_export_builds_running')).toBe(2);
  for (const { held } of [unasked, first]) held.release();
  await Promise.all(asked);
  expect((await scrape(api.operations)).value('lectern_export_queue_oldest_waiting_seconds')).toBe(0);
});

test('metrics report waiting grades even without a worker', async () => {
  const fleet = await startFleet();
  const api = await fleet.startApi({ METRICS_PORT: '0' });
  const due = 'lectern_lti_scores_oldest_due_seconds';
  expect((await scrape(api.operations)).value(due)).toBe(0);
  await fleet.harness.db.ltiScores.collection.insertOne({
    ...{ linkId: 'a link', ltiUserId: 'a learner', platformId: 'a platform' },
    ...{ state: 'waiting', nextTryAt: new Date(Date.now() - 600_000) },
  });
  const scraped = await scrape(api.operations);
  expect(scraped.value('lectern_lti_scores{state="waiting"}')).toBe(1);
  expect(scraped.value(due)).toBeGreaterThanOrEqual(600);
});
