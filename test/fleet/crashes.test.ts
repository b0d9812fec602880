import { expect, test } from 'vitest';
import { digestOf } from '../../shared/storage/digest.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectArchive, longTimeoutMs, startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { startFrozenProxy } from './frozen-proxy.ts';
import { spawnWorker } from './processes.ts';

const MB = 1024 ** 2;

/** Another worker takes over a stalled job after two to four seconds, and its downloads after two. */
const quickTakeOver = { WORKER_LOCK_SECONDS: '2' };

/** Asserts that the store has one archive, and that its bytes match the digest in its name. */
async function expectOneArchive(fleet: Fleet, bytes: Buffer): Promise<void> {
  expect((await fleet.stored()).archives).toEqual([`${digestOf(bytes).sha256}.zip`]);
}

test('another worker finishes an export whose worker was killed in mid-archive and mid-download', async () => {
  const fleet = await startFleet(quickTakeOver);
  const [api, first] = await Promise.all([fleet.startApi(), spawnWorker(fleet.harness)]);
  // Half a megabyte of a download stays in memory; the rest is in a file.
  const { lesson, held, path } = await fleet.publishHeld([2 * MB, MB, 3 * MB]);
  const { starts } = viewQueue(fleet.harness);

  const asked = fleet.request(api, lesson);
  await held.reached;
  await waitFor(
    'a draft and a download',
    async () => (await fleet.cached()).length === 2 && (await fleet.stored()).temporaries.length === 2,
    longTimeoutMs,
  );
  await first.kill();
  const left = await fleet.stored();
  expect(left.archives).toEqual([]);
  expect(left.temporaries).toHaveLength(2);

  await fleet.startWorker();
  const answer = await asked;
  await expectArchive(answer, lesson);
  await expectOneArchive(fleet, answer.body);
  // On a machine that is busy for seconds, the lock of a build may expire, and it starts again.
  expect(await starts(lesson.version)).toBeGreaterThanOrEqual(2);
  expect(fleet.origin.requests(path)).toBeGreaterThanOrEqual(2);

  expect(await fleet.harness.store.sweepTemporaries(0)).toBeGreaterThanOrEqual(2);
  expect((await fleet.stored()).temporaries).toEqual([]);
});

test('a frozen worker whose export was taken over does no harm when it continues', async () => {
  const fleet = await startFleet(quickTakeOver);
  const [api, first] = await Promise.all([fleet.startApi(), spawnWorker(fleet.harness)]);
  const { lesson, held } = await fleet.publishHeld([2 * MB, 3 * MB, MB]);
  const { starts } = viewQueue(fleet.harness);

  const asked = fleet.request(api, lesson);
  await held.reached;
  first.signal('SIGSTOP');
  const second = await fleet.startWorker();
  const answer = await asked;
  await expectArchive(answer, lesson);
  expect(await starts(lesson.version)).toBe(2);

  held.release();
  first.signal('SIGCONT');
  await waitFor(
    'the end of the first build',
    async () => (await fleet.stored()).temporaries.length === 0,
    longTimeoutMs,
  );
  await expectOneArchive(fleet, answer.body);
  expect((await fleet.request(api, lesson)).body.equals(answer.body)).toBe(true);
  expect(await starts(lesson.version)).toBe(2);

  // It has noticed the loss, and continues to work.
  await second.stop();
  const next = await fleet.publish([MB]);
  await expectArchive(await fleet.request(api, next), next);
});

test('a worker whose connections to Redis are dead without an error exits, so that it is restarted', async () => {
  const fleet = await startFleet({ WORKER_WATCHDOG_SECONDS: '2', SHUTDOWN_SECONDS: '4' });
  const redis = new URL(fleet.harness.servers.redisUrl);
  const proxy = await startFrozenProxy({ host: redis.hostname, port: Number(redis.port) });
  const settings = { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, LOG_LEVEL: 'error' };
  const [api, worker] = await Promise.all([fleet.startApi(), spawnWorker(fleet.harness, settings)]);
  const lesson = await fleet.publish([1000]);

  proxy.freeze();
  const asked = fleet.request(api, lesson);
  await worker.logged('the connection to Redis is stuck');
  expect(await worker.ended).toBe('exit code 1');
  await fleet.startWorker();
  await expectArchive(await asked, lesson);
});
