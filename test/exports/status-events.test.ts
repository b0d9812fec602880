import { expect, onTestFinished, test } from 'vitest';
import { ExportChanges } from '../../api/exports/export-changes.ts';
import { exportStatusEvents } from '../../api/exports/export-status.ts';
import type { ExportStatus } from '../../api/exports/export-status.ts';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { noIncompleteBuilds } from './exports.ts';
import { createExportEvents } from '../../shared/exports/queues.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { jsonOf } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { useExportLab } from './lab.ts';
import { viewQueue } from './open-queue.ts';

const lab = useExportLab({ EXPORT_WAITS_PER_ORGANIZATION: '2' });

/** Opens an event stream of a version's status and collects its events. */
async function follow(version: LessonVersion, api = lab.api) {
  const response = await lab.openStream(version, {}, api);
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => (text += part));
  const ended = new Promise<void>((resolve, reject) => response.once('end', resolve).once('error', reject));
  ended.catch(() => undefined);
  /** Returns the reported statuses in order, without consecutive repeats. */
  const statuses = () => {
    const reported = [...text.matchAll(/^data: (.*)$/gm)].map(
      ([, json = '']) => (JSON.parse(json) as { status: string }).status,
    );
    return reported.filter((status, index) => status !== reported[index - 1]);
  };
  return { response, ended, statuses, text: () => text };
}

test('an event stream reports the progress of an export and ends when the archive is ready', async () => {
  const { version, held } = await lab.buildHeld(Buffer.alloc(1000, 7));
  onTestFinished(() => held.release());
  await lab.begin(version);
  const stream = await follow(version);
  expect(stream.response.statusCode).toBe(200);
  expect(stream.response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  await waitFor('the first event', () => stream.statuses().length > 0);
  expect(stream.text()).toMatch(
    /^retry: \d+\nid: queued\ndata: {"status":"queued",.*"reason":"no_worker"}\n\n$/,
  );
  onTestFinished(await lab.harness.startWorker());
  await waitFor('figures of the build', () => stream.text().includes('"bytes":1000'));
  held.release();
  await stream.ended;
  expect(stream.statuses()).toEqual(['queued', 'building', 'ready']);
  expect(stream.text()).toMatch(/\n\nid: ready\ndata: {"status":"ready",.*}\n\n$/);
});

test('the event stream of a failed build ends with the reason', async () => {
  const version = await lab.build();
  await lab.harness.db.lessonContents.deleteMany({ versionId: version._id });
  await lab.begin(version);
  const stream = await follow(version);
  onTestFinished(await lab.harness.startWorker());
  await stream.ended;
  expect(stream.statuses().at(-1)).toBe('failed');
  expect(stream.text()).toContain('The content of this version is missing.');
});

test('an event stream ends after EXPORT_WAIT_SECONDS, so that the client reconnects', async () => {
  const version = await lab.build();
  await lab.begin(version);
  const stream = await follow(version, await lab.harness.startApi({ EXPORT_WAIT_SECONDS: '1' }));
  await stream.ended;
  expect(stream.statuses()).toEqual(['queued']);
});

test('an organization over its limit of waiting requests gets 429, and other organizations keep waiting', async () => {
  const version = await lab.build();
  expect((await lab.begin(version)).status).toBe(202);
  const streams = [await lab.openStream(version), await lab.openStream(version)];

  const refused = await lab.get(version);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(jsonOf(refused)).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  const streamStatus = async () => {
    const response = await lab.openStream(version);
    response.destroy();
    return response.statusCode;
  };
  expect(await streamStatus()).toBe(429);
  // Requests that do not wait still succeed.
  expect((await lab.begin(version)).status).toBe(202);
  expect(await lab.statusOf(version)).toMatchObject({ status: 'queued' });

  const { organization, headers } = await buildOrganization(lab.harness);
  const theirs = await buildVersion(lab.harness, organization, (await buildPackage()).path);
  expect((await lab.begin(theirs, { headers })).status).toBe(202);
  expect((await lab.openStream(theirs, headers)).statusCode).toBe(200);

  for (const stream of streams) {
    stream.destroy();
    await waitFor('a free wait', async () => (await streamStatus()) === 200);
  }
});

/** A stream in this process, with a heartbeat at every poll. */
async function startStream() {
  const { config, db, store } = lab.harness;
  const queue = viewQueue(lab.harness);
  const events = createExportEvents(lab.harness.servers.redisUrl, config);
  onTestFinished(() => events.close());
  const job = exportJobOf(await lab.build());
  await enqueueExport(queue.jobs, job);
  const first: ExportStatus = {
    status: 'queued',
    progress: { done: 0, total: 0, bytes: 0 },
    position: await queue.jobs.getPrioritizedCount(),
    reason: 'no_worker',
  };
  const client = new AbortController();
  const changes = new ExportChanges(events);
  const incomplete = noIncompleteBuilds;
  const deps = { db, archives: store.archives, queue: queue.jobs, changes, incomplete, config };
  const stream = exportStatusEvents(deps, job, { first, signal: client.signal, heartbeatMs: 0 });
  return { stream, leave: () => client.abort(new Error('the client is gone')) };
}

test('an idle event stream sends heartbeats, so that proxies keep it open, and ends when its client disconnects', async () => {
  const { stream, leave } = await startStream();
  expect((await stream.next()).value).toContain('data: {"status":"queued"');
  expect((await stream.next()).value).toBe(': heartbeat\n\n');
  const waiting = stream.next();
  leave();
  expect(await waiting).toEqual({ done: true, value: undefined });
});
