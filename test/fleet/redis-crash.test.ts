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
import { patienceMilliseconds, spawnApi, spawnWorker } from './processes.ts';
import type { ApiProcess } from './processes.ts';

vi.setConfig({ testTimeout: 90_000 });

/** An installation over a Redis of its own, which can be killed and comes back empty on the same port. */
async function startFleetWithRedis() {
  let redis = await startRedis();
  onTestFinished(() => redis.stop());
  const fleet = await startFleet({ REDIS_URL: redis.url, WORKER_LOCK_SECONDS: '2' });
  const [api, worker] = await Promise.all([spawnApi(fleet.harness), spawnWorker(fleet.harness)]);
  return {
    fleet,
    api,
    worker,
    /** It keeps its connections, and answers nothing any more. */
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

/** That new exports are answered again, at the latest when a client has asked a few times. */
async function expectRecovery(fleet: Fleet, api: ApiProcess): Promise<void> {
  const lesson = await fleet.publish([100_000]);
  const answer = await waitFor(
    'an export',
    async () => {
      const asked = await fleet.request(api, lesson);
      return asked.status === 200 ? asked : null;
    },
    patienceMilliseconds,
  );
  await expectArchive(answer, lesson);
}

test('an export outlives a Redis that is killed in mid-build and comes back empty', async () => {
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

test('an export under way is served while Redis is gone, and new ones once it has come back', async () => {
  const { fleet, api, killRedis, restartRedis } = await startFleetWithRedis();
  const { lesson, held } = await publishHeld(fleet);

  const asked = fleet.request(api, lesson);
  await held.reached;
  await killRedis();
  held.release();
  await expectArchive(await asked, lesson);
  // The store answers for what is ready, whatever became of the queue.
  await expectArchive(await fleet.request(api, lesson), lesson);

  // Long enough for clients that reconnect more and more rarely to have given up, if any did.
  await delay(5_000);
  await restartRedis();
  await expectRecovery(fleet, api);
});

test('a request for a new export is refused at once while Redis is gone, and soon when it hangs', async () => {
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

test('an API and a worker that are told to end while Redis is gone end soon, and well', async () => {
  const { api, worker, killRedis } = await startFleetWithRedis();
  await killRedis();
  api.signal('SIGTERM');
  worker.signal('SIGTERM');
  // One that has to be forced, as it waits for Redis, ends with 1.
  expect(await Promise.all([api.ended, worker.ended])).toEqual(['exit code 0', 'exit code 0']);
});
