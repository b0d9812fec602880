import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { exportPath, manifestPath, statusPath } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { openQueue } from './open-queue.ts';

let lab: ExportLab;

beforeAll(async () => {
  lab = await startExportLab();
});
afterAll(() => lab.close());

const none = { done: 0, total: 0, bytes: 0 };

/** Sends an export request without waiting for the archive. */
function askAsync(path: string, prefer = 'respond-async', method = 'GET') {
  return ask(lab.api + path, { method, headers: { ...lab.headers, prefer } });
}

async function statusOf(version: LessonVersion): Promise<object> {
  const answer = await ask(lab.api + statusPath(version), { headers: lab.headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return jsonOf(answer) as object;
}

async function startWorker(): Promise<void> {
  onTestFinished(await lab.harness.startWorker({ WORKER_CONCURRENCY: '1' }));
}

test('Prefer: respond-async gets 202 with the status URL at once', async () => {
  const version = await lab.build();
  const answer = await askAsync(exportPath(version));
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
  expect(await statusOf(version)).toEqual(jsonOf(answer));

  await startWorker();
  await waitFor(
    'the archive',
    async () => 'ready' === ((await statusOf(version)) as { status: string }).status,
  );
  expect((await askAsync(exportPath(version))).headers.get('content-type')).toBe('application/zip');
});

test.each([exportPath, manifestPath])(
  'GET and HEAD of each export endpoint start a build (%o)',
  async (pathOf) => {
    for (const method of ['GET', 'HEAD']) {
      const version = await lab.build();
      expect((await askAsync(pathOf(version), 'respond-async', method)).status).toBe(202);
      expect(await statusOf(version)).toMatchObject({ status: 'queued' });
    }
  },
);

describe('the Prefer header', () => {
  test.each([
    'Respond-Async',
    'wait=10, respond-async',
    'respond-async; x=1',
    'handling=lenient,respond-async',
  ])('"%s" is honored', async (prefer) => {
    expect((await askAsync(exportPath(await lab.build()), prefer)).status).toBe(202);
  });
});

test('the archive with the player has a status of its own', async () => {
  const version = await lab.build();
  const answer = await askAsync(`${exportPath(version)}?include=player`);
  expect(answer.headers.get('location')).toBe(`${lab.api}${statusPath(version)}?include=player`);
  expect(await statusOf(version)).toEqual({ status: 'none', progress: none });
  const own = await ask(answer.headers.get('location') ?? '', { headers: lab.headers });
  expect(jsonOf(own)).toMatchObject({ status: 'queued' });
});

test('the Location begins with PUBLIC_URL', async () => {
  const api = await lab.harness.startApi({ PUBLIC_URL: 'https://lectern.example/base' });
  const version = await lab.build();
  const headers = { ...lab.headers, prefer: 'respond-async' };
  const answer = await ask(api + exportPath(version), { headers });
  expect(answer.headers.get('location')).toBe(`https://lectern.example/base${statusPath(version)}`);
});

test('the status follows an export: none, queued with its position, building with its progress, ready', async () => {
  const { version, held } = await lab.buildHeld(Buffer.alloc(1000, 'picture'));
  onTestFinished(() => held.release());
  const next = await lab.build();
  expect(await statusOf(version)).toEqual({ status: 'none', progress: none });
  await startWorker();
  expect((await askAsync(exportPath(version))).status).toBe(202);
  await held.reached;
  expect((await askAsync(exportPath(next))).status).toBe(202);
  const building = await waitFor('the first file in the archive', async () => {
    const status = (await statusOf(version)) as { progress: { done: number; total: number } };
    return status.progress.done === 1 ? status : null;
  });
  expect(building).toMatchObject({ status: 'building', progress: { done: 1, bytes: 1000 } });
  expect(await statusOf(next)).toMatchObject({ status: 'queued', position: expect.any(Number) as number });
  held.release();
  await waitFor(
    'the archive',
    async () => 'ready' === ((await statusOf(version)) as { status: string }).status,
  );
  const { total } = building.progress;
  expect(await statusOf(version)).toMatchObject({ status: 'ready', progress: { done: total, total } });
});

test('a ready archive whose job was removed has the same figures', async () => {
  const version = await lab.build(Buffer.alloc(1000, 'picture'));
  await startWorker();
  expect((await ask(lab.api + exportPath(version), { headers: lab.headers })).status).toBe(200);
  const queue = await openQueue(lab.harness);
  onTestFinished(() => queue.close());
  const told = await waitFor('the last figures', async () => {
    const status = (await statusOf(version)) as { progress: { done: number; total: number } };
    return status.progress.done === status.progress.total ? status : null;
  });
  expect(await queue.jobs.remove(exportJobOf(version).key)).toBe(1);
  expect(await statusOf(version)).toEqual(told);
});

test('the status of a failed export gives callers the reason', async () => {
  const version = await lab.build();
  await lab.harness.db.lessonContents.deleteMany({ versionId: version._id });
  await startWorker();
  expect((await askAsync(exportPath(version))).status).toBe(202);
  await waitFor(
    'the failure',
    async () => 'failed' === ((await statusOf(version)) as { status: string }).status,
  );
  expect(await statusOf(version)).toMatchObject({
    status: 'failed',
    error: { code: 'INVALID_CONTENT', message: 'The content of this version is missing.' },
  });
});
