import { afterAll, beforeAll, expect, test } from 'vitest';
import { countWorkers } from '../../shared/operations/workers.ts';
import { exportPath, statusPath } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { openQueue } from './open-queue.ts';
import type { OpenQueue } from './open-queue.ts';
import { openStatusStream } from './status-stream.ts';

let lab: ExportLab;
let queue: OpenQueue;

beforeAll(async () => {
  lab = await startExportLab({ EXPORT_WAIT_SECONDS: '1' });
  queue = await openQueue(lab.harness);
});
afterAll(async () => {
  await queue.close();
  await lab.close();
});

test('without a matching worker, the status, the events and a request that timed out all say so', async () => {
  const version = await lab.build();
  const headers = { ...lab.headers };
  const late = await ask(lab.api + exportPath(version), { headers });
  expect(late.status).toBe(500);
  expect(jsonOf(late)).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: 'The archive is not ready in time: no worker is running. The export stays in the queue.',
  });

  const status = async () => jsonOf(await ask(lab.api + statusPath(version), { headers }));
  expect(await status()).toMatchObject({ status: 'queued', reason: 'no_worker' });
  let events = '';
  const stream = await openStatusStream(lab.api, version, headers);
  stream.setEncoding('utf8').on('data', (text: string) => (events += text));
  await waitFor('the first event', () => events.includes('\n\n'));
  expect(events).toContain('"reason":"no_worker"');

  const endWorker = await lab.harness.startWorker();
  await waitFor('the archive', async () => ((await status()) as { status: string }).status === 'ready');
  expect(await status()).not.toHaveProperty('reason');
  expect(await countWorkers(queue.jobs)).toBe(1);
  await endWorker();
  expect(await countWorkers(queue.jobs)).toBe(0);
});

test('a crashed worker does not count once its last heartbeat is too old', async () => {
  const key = queue.jobs.toKey('workers');
  const [seconds] = await queue.jobs.redis.time();
  await queue.jobs.redis.zadd(
    key,
    Number(seconds) * 1000 - 1,
    'crashed',
    Number(seconds) * 1000 + 9000,
    'running',
  );
  expect(await countWorkers(queue.jobs)).toBe(1);
  await queue.jobs.redis.del(key);
});
