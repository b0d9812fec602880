import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRedis } from '../../shared/embedded/redis.ts';
import { waitFor } from '../support/wait-for.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { holdFile } from './held-file.ts';
import type { HeldFile } from './held-file.ts';
import { expectArchive, expectCleanFailure } from './lessons.ts';
import type { PublishedLesson } from './lessons.ts';
import { longTimeoutMs, spawnApi, spawnWorker } from './processes.ts';
import type { ApiProcess } from './processes.ts';

vi.setConfig({ testTimeout: 90_000 });

/**
 * An installation with a Redis of its own, which can be killed and restarts empty on the same
 * port.
 */
async function startFleetWithRedis() {
  let redis = await startRedis();
  onTestFinished(() => redis.stop());
  const fleet = await startFleet({ REDIS_URL: redis.url, WORKER_LOCK_SECONDS: '2' });
  const [api, worker] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  return {
    fleet,
    api,
    worker,
    /** Makes Redis keep its connections and stop responding. */
    stopRedis: () => process.kill(redis.pid, 'SIGSTOP'),
    killRedis: async () => {
      redis.kill();
      await redis.exited;
    },
    restartRedis: async () => {
      redis = await startRedis({ port: redis.port });
    },
  };
}

async function publishHeld(fleet: Fleet): Promise<{ lesson: PublishedLesson; held: HeldFile }> {
  const lesson = await fleet.publish([300_000, 200_000]);
  const last = lesson.files.at(-1);
  if (last === undefined) throw new Error('The lesson has no files');
  const held = holdFile(last.bytes);
  fleet.origin.script(last.path, held.behaviour);
  return { lesson, held };
}

/** Checks that new exports succeed again, at the latest after a few retries by the client. */
async function expectRecovery(fleet: Fleet, api: ApiProcess): Promise<void> {
  const lesson = await fleet.publish([100_000]);
  const answer = await waitFor(
    'an export',
    async () => {
      const asked = await fleet.request(api, lesson);
      return asked.status === 200 ? asked : null;
    },
    longTimeoutMs,
  );
  await expectArchive(answer, lesson);
}

test('an export survives a Redis that is killed in mid-build and restarts empty', async () => {
  const { fleet, api, killRedis, restartRedis } = await startFleetWithRedis();
  const { lesson, held } = await publishHeld(fleet);

  const asked = fleet.request(api, lesson);
  await held.reached;
  await killRedis();
  await restartRedis();
  held.release();
  await expectArchive(await asked, lesson);
  expect((await fleet.stored()).archives).toHaveLength(1);
  await expectRecovery(fleet, api);
});

test('an export in progress is served while Redis is down, and new ones once it is back', async () => {
  const { fleet, api, killRedis, restartRedis } = await startFleetWithRedis();
  const { lesson, held } = await publishHeld(fleet);

  const asked = fleet.request(api, lesson);
  await held.reached;
  await killRedis();
  held.release();
  await expectArchive(await asked, lesson);
  // The store decides what is ready, whatever happened to the queue.
  await expectArchive(await fleet.request(api, lesson), lesson);

  // Long enough for clients with reconnect backoff to have given up, if any did.
  await delay(5_000);
  await restartRedis();
  await expectRecovery(fleet, api);
});

test('a request for a new export fails at once while Redis is down, and soon while it hangs', async () => {
  const { fleet, api, stopRedis, killRedis } = await startFleetWithRedis();
  const lesson = await fleet.publish([1000]);
  const refused = async () => {
    const started = performance.now();
    expectCleanFailure(await fleet.request(api, lesson));
    return performance.now() - started;
  };
  stopRedis();
  expect(await refused()).toBeLessThan(10_000);
  await killRedis();
  expect(await refused()).toBeLessThan(2_000);
  expect((await fleet.stored()).archives).toEqual([]);
});

test('without Redis an API and a worker still shut down gracefully and soon', async () => {
  const { api, worker, killRedis } = await startFleetWithRedis();
  await killRedis();
  api.signal('SIGTERM');
  worker.signal('SIGTERM');
  // A process that had to be forced because it waits for Redis exits with 1.
  expect(await Promise.all([api.ended, worker.ended])).toEqual(['exit code 0', 'exit code 0']);
});
