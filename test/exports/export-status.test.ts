import { describe, expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { jsonOf } from '../support/answers.ts';
import { exportPath, manifestPath, statusPath } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { useExportLab } from './lab.ts';
import { viewQueue } from './open-queue.ts';

const lab = useExportLab();

const none = { done: 0, total: 0, bytes: 0 };

async function startWorker(settings: Record<string, string> = {}): Promise<void> {
  onTestFinished(await lab.harness.startWorker({ WORKER_CONCURRENCY: '1', ...settings }));
}

async function becomes(version: LessonVersion, expected: string): Promise<void> {
  await expect.poll(async () => (await lab.statusOf(version)).status).toBe(expected);
}

test('Prefer: respond-async gets 202 with the status URL at once', async () => {
  const version = await lab.build();
  const answer = await lab.begin(version);
  expect({ status: answer.status, body: jsonOf(answer) }).toEqual({
    status: 202,
    body: { status: 'queued', progress: none, position: 1, reason: 'no_worker' },
  });
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    location: lab.api + statusPath(version),
    'preference-applied': 'respond-async',
    'retry-after': '2',
    'cache-control': 'no-store',
  });
  const status = await lab.get(version, { pathOf: statusPath });
  expect({ status: status.status, cache: status.headers.get('cache-control') }).toEqual({
    status: 200,
    cache: 'no-store',
  });
  expect(jsonOf(status)).toEqual(jsonOf(answer));

  await startWorker();
  await becomes(version, 'ready');
  expect((await lab.begin(version)).headers.get('content-type')).toBe('application/zip');
  // Cancelling keeps it.
  expect((await lab.cancel(version)).status).toBe(204);
  expect(await lab.statusOf(version)).toMatchObject({ status: 'ready' });
});

test.each([exportPath, manifestPath])('GET and HEAD of an export start a build (%o)', async (pathOf) => {
  for (const method of ['GET', 'HEAD']) {
    const version = await lab.build();
    expect((await lab.begin(version, { pathOf, method })).status).toBe(202);
    expect(await lab.statusOf(version)).toMatchObject({ status: 'queued' });
  }
});

test('the status follows an export from none over queued and building to ready, also after its job is gone', async () => {
  const { version, held } = await lab.buildHeld(Buffer.alloc(1000, 7));
  onTestFinished(() => held.release());
  const next = await lab.build();
  expect(await lab.statusOf(version)).toEqual({ status: 'none', progress: none });
  await startWorker();
  await lab.begin(version);
  await held.reached;
  expect((await lab.begin(next)).status).toBe(202);
  const building = await waitFor('the first file in the archive', async () => {
    const status = await lab.statusOf(version);
    return status.progress.done === 1 ? status : null;
  });
  expect(building).toMatchObject({ status: 'building', progress: { done: 1, bytes: 1000 } });
  // A worker takes the job before it sees that the organization has no slot left.
  await becomes(next, 'queued');
  expect(await lab.statusOf(next)).toMatchObject({ position: expect.any(Number) as number });
  held.release();
  const { total } = building.progress;
  const ready = await waitFor('the last figures', async () => {
    const status = await lab.statusOf(version);
    return status.status === 'ready' && status.progress.done === total ? status : null;
  });
  const queue = viewQueue(lab.harness);
  // The worker keeps the job locked until it has recorded its end.
  await waitFor(
    'the removal of the job',
    async () => (await queue.jobs.remove((await queue.lastJob(version))?.id ?? '')) === 1,
  );
  expect(await lab.statusOf(version)).toEqual(ready);
});

describe('cancelling', () => {
  test('removes a queued export, which can be requested again', async () => {
    const version = await lab.build();
    expect((await lab.cancel(version)).status).toBe(204);
    await lab.begin(version);
    const answer = await lab.cancel(version);
    expect({ status: answer.status, bytes: answer.body.length }).toEqual({ status: 204, bytes: 0 });
    expect(await lab.statusOf(version)).toEqual({ status: 'none', progress: none });
    expect((await lab.begin(version)).status).toBe(202);
    expect(await lab.statusOf(version)).toMatchObject({ status: 'queued' });
    await lab.cancel(version);
  });

  test('stops a build, frees its slot and resets its status, and the next request gets the archive', async () => {
    const { version, held } = await lab.buildHeld();
    onTestFinished(() => held.release());
    await startWorker();
    await lab.begin(version);
    await held.reached;
    const answer = await lab.cancel(version);
    expect({ status: answer.status, body: jsonOf(answer) }).toMatchObject({
      status: 202,
      body: { status: 'building' },
    });
    expect((await lab.get(await lab.build())).status).toBe(200);
    await becomes(version, 'none');
    expect((await lab.cancel(version)).status).toBe(204);
    held.release();
    expect((await lab.get(version)).status).toBe(200);
  });

  test('makes a request that waits for the export begin another build', async () => {
    const { version, held } = await lab.buildHeld();
    onTestFinished(() => held.release());
    await startWorker();
    const waiting = lab.get(version);
    await held.reached;
    expect((await lab.cancel(version)).status).toBe(202);
    held.release();
    expect((await waiting).status).toBe(200);
  });
});
