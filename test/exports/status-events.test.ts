import { afterAll, beforeAll, expect, test } from 'vitest';
import { JobSubscriptions } from '../../api/exports/job-subscriptions.ts';
import { statusEvents } from '../../api/exports/status-events.ts';
import type { ExportStatus } from '../../api/exports/export-status.ts';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import { noCoordination } from '../../shared/coordination/coordination.ts';
import { createExportEvents } from '../../shared/exports/queues.ts';
import type { ArchiveStore } from '../../shared/storage/store.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { openQueue } from './open-queue.ts';
import type { OpenQueue } from './open-queue.ts';

let lab: ExportLab;
let queue: OpenQueue;
let events: ReturnType<typeof createExportEvents>;
let job: ExportJob;

beforeAll(async () => {
  lab = await startExportLab();
  queue = await openQueue(lab.harness);
  events = createExportEvents(lab.harness.servers.redisUrl, lab.harness.config);
  job = exportJobOf(await lab.build());
  await enqueueExport(queue.jobs, job, null);
});
afterAll(async () => {
  await events.close();
  await queue.close();
  await lab.close();
});

const first: ExportStatus = {
  status: 'queued',
  progress: { done: 0, total: 0, bytes: 0 },
  position: 1,
  reason: 'no_worker',
};

function startEvents(
  signal: AbortSignal,
  options: { subscriptions?: JobSubscriptions; archives?: ArchiveStore } = {},
) {
  const { config, db, store } = lab.harness;
  const { subscriptions = new JobSubscriptions(events), archives = store.archives } = options;
  const deps = {
    db,
    archives,
    queue: queue.jobs,
    subscriptions,
    incomplete: noCoordination.incomplete,
    config,
  };
  return statusEvents(deps, job, { first, signal, heartbeatMs: 0 });
}

test('an idle event stream sends heartbeats, so that proxies keep it open', async () => {
  const gone = new AbortController();
  const stream = startEvents(gone.signal);
  expect((await stream.next()).value).toContain('data: {"status":"queued"');
  expect((await stream.next()).value).toBe(': heartbeat\n\n');
  gone.abort();
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('an event stream ends when its client disconnects while waiting', async () => {
  const gone = new AbortController();
  const stream = startEvents(gone.signal);
  await stream.next();
  const waiting = stream.next();
  gone.abort(new Error('the client is gone'));
  expect(await waiting).toEqual({ done: true, value: undefined });
});

test('a process polls an export once for all of its event streams', async () => {
  let looks = 0;
  const { archives } = lab.harness.store;
  const open = (key: string) => {
    if (key === job.key) looks += 1;
    return archives.open(key);
  };
  const gone = new AbortController();
  const options = { subscriptions: new JobSubscriptions(events), archives: { ...archives, open } };
  const streams = Array.from({ length: 40 }, () => startEvents(gone.signal, options));
  await Promise.all(streams.map((stream) => stream.next()));
  await Promise.all(streams.map((stream) => stream.next()));
  gone.abort();
  await Promise.all(streams.map((stream) => stream.next()));
  // One poll each second; a loaded machine may take several seconds for all streams.
  expect(looks).toBeLessThan(10);
});
