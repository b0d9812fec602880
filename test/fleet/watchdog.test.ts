import { expect, onTestFinished, test, vi } from 'vitest';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { startWatchdog } from '../../worker/maintenance/watchdog.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import { startFrozenProxy } from './frozen-proxy.ts';
import { expectArchive } from './lessons.ts';
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';
import { viewQueue } from './queue.ts';
import { jobNamed } from './turns.ts';

vi.setConfig({ testTimeout: 90_000 });

test('a worker whose connections to Redis are dead without an error exits, so that it is restarted', async () => {
  const fleet = await startFleet({ WORKER_WATCHDOG_SECONDS: '2', SHUTDOWN_SECONDS: '4' });
  const redis = new URL(fleet.harness.servers.redisUrl);
  const proxy = await startFrozenProxy({ host: redis.hostname, port: Number(redis.port) });
  const settings = { REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
  const [api, worker] = await Promise.all([
    spawnApi(fleet.harness),
    spawnWorker(fleet.harness, { ...settings, LOG_LEVEL: 'error' }),
  ]);
  const lesson = await fleet.publish([1000]);

  proxy.freeze();
  const asked = fleet.request(api, lesson);
  await worker.logged('the connection to Redis is stuck');
  expect(await worker.ended).toBe('exit code 1');
  await spawnWorker(fleet.harness, settings);
  await expectArchive(await asked, lesson);
});

test.each([
  { what: 'Redis does not answer', redisUrl: 'redis://127.0.0.1:1', free: 1 },
  { what: 'all its slots are taken', redisUrl: null, free: 0 },
])('the watchdog keeps a worker running when jobs wait and $what', async ({ redisUrl, free }) => {
  const { harness } = await startFleet();
  const { queue } = viewQueue(harness);
  await enqueueExport(queue, jobNamed('a1'), null);
  const looks = vi.fn(() => 0);
  const onStuck = vi.fn();
  const watchdog = startWatchdog(
    { redisUrl: redisUrl ?? harness.servers.redisUrl, queue, freeSlots: () => free, starts: looks },
    { seconds: 0.06, log: createLogger(harness.config, 'test'), onStuck },
  );
  onTestFinished(() => watchdog.stop());
  await waitFor('many looks', () => looks.mock.calls.length > 60, longTimeoutMs);
  expect(onStuck).not.toHaveBeenCalled();
  expect(watchdog.stuck()).toBe(false);
});

test('a worker that starts nothing while jobs wait is reported as stuck once', async () => {
  const { harness } = await startFleet();
  const { queue } = viewQueue(harness);
  await enqueueExport(queue, jobNamed('a1'), null);
  const looks = vi.fn(() => 0);
  const onStuck = vi.fn();
  const watchdog = startWatchdog(
    { redisUrl: harness.servers.redisUrl, queue, freeSlots: () => 1, starts: looks },
    { seconds: 0.06, log: createLogger(harness.config, 'test'), onStuck },
  );
  onTestFinished(() => watchdog.stop());
  await waitFor('the alarm', () => watchdog.stuck(), longTimeoutMs);
  const before = looks.mock.calls.length;
  await waitFor('more looks', () => looks.mock.calls.length > before + 10, longTimeoutMs);
  expect(onStuck).toHaveBeenCalledOnce();
});
