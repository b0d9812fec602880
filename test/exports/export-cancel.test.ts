import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { exportPath, statusPath } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectFailure, jsonOf } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { openQueue } from './open-queue.ts';

let lab: ExportLab;

beforeAll(async () => {
  lab = await startExportLab();
});
afterAll(() => lab.close());

const none = { done: 0, total: 0, bytes: 0 };
const wanted = {
  status: 409,
  code: 'CONFLICT',
  error: 'Conflict',
  message: 'A request waits for this export',
};

const begin = (version: LessonVersion) =>
  ask(lab.api + exportPath(version), { headers: { ...lab.headers, prefer: 'respond-async' } });
const cancel = (version: LessonVersion) =>
  ask(lab.api + statusPath(version), { method: 'DELETE', headers: lab.headers });

async function statusOf(version: LessonVersion): Promise<object> {
  return jsonOf(await ask(lab.api + statusPath(version), { headers: lab.headers })) as object;
}

test('a queued export can be cancelled and requested again', async () => {
  const version = await lab.build();
  await begin(version);
  const answer = await cancel(version);
  expect({ status: answer.status, bytes: answer.body.length }).toEqual({ status: 204, bytes: 0 });
  expect(await statusOf(version)).toEqual({ status: 'none', progress: none });
  expect((await begin(version)).status).toBe(202);
  expect(await statusOf(version)).toMatchObject({ status: 'queued' });
  await cancel(version);
});

test('cancelling stops a build and resets its status to none, and the next request gets the archive', async () => {
  const { version, held } = await lab.buildHeld();
  onTestFinished(() => held.release());
  onTestFinished(await lab.harness.startWorker());
  await begin(version);
  await held.reached;
  const answer = await cancel(version);
  expect({ status: answer.status, body: jsonOf(answer) }).toMatchObject({
    status: 202,
    body: { status: 'building' },
  });
  await waitFor(
    'the end of the build',
    async () => 'none' === ((await statusOf(version)) as { status: string }).status,
  );
  expect((await cancel(version)).status).toBe(204);
  held.release();
  expect((await ask(lab.api + exportPath(version), { headers: lab.headers })).status).toBe(200);
});

test('an export cannot be cancelled while a client waits for it at any API process', async () => {
  const version = await lab.build();
  const queue = await openQueue(lab.harness);
  onTestFinished(() => queue.close());
  const other = await lab.harness.startApi();
  const leaving = new AbortController();
  const asking = ask(other + exportPath(version), { headers: lab.headers, signal: leaving.signal });
  await waitFor('its job', async () => (await queue.jobs.getPrioritizedCount()) === 1);
  expectFailure(await cancel(version), wanted);
  expect(await statusOf(version)).toMatchObject({ status: 'queued' });

  leaving.abort();
  await expect(asking).rejects.toThrow(/abort/);
  await waitFor('the waiting client to be forgotten', async () => (await cancel(version)).status === 204);
  expect(await statusOf(version)).toMatchObject({ status: 'none' });
});

test('a client that only watches the status does not block cancellation', async () => {
  const version = await lab.build();
  await begin(version);
  const headers = { ...lab.headers, accept: 'text/event-stream' };
  const watching = ask(lab.api + statusPath(version), { headers });
  expect((await cancel(version)).status).toBe(204);
  expect((await watching).body.toString()).toMatch(/id: none\n/);
});

test('cancelling keeps an archive that is ready', async () => {
  const version = await lab.build();
  onTestFinished(await lab.harness.startWorker());
  expect((await ask(lab.api + exportPath(version), { headers: lab.headers })).status).toBe(200);
  expect((await cancel(version)).status).toBe(204);
  expect(await statusOf(version)).toMatchObject({ status: 'ready' });
});

test('cancelling an export that was never requested leaves its status none', async () => {
  expect((await cancel(await lab.build())).status).toBe(204);
});
