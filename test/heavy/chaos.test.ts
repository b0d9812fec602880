import { expect, onTestFinished, test } from 'vitest';
import { startRedis } from '../../shared/embedded/redis.ts';
import { startFleet } from '../fleet/fleet.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import { publishSlowLessons, startClients } from './chaos.ts';
import { startFaults } from './chaos.ts';
import { printFigure } from './measure.ts';
import { seededRandom } from './measure.ts';

/** LECTERN_CHAOS_SEED changes the faults. */
const seed = Number(process.env.LECTERN_CHAOS_SEED ?? 20260115);
const lessonCount = 40;
const clientCount = 8;

/** Media take some seconds, so that most faults hit a build. */
const pause = { least: 200, more: 500 };

test('during kills and outages each response is the right archive or a clean 500, and in the end all are right', async () => {
  const random = seededRandom(seed);
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const fleet = await startFleet({ REDIS_URL: redis.url, WORKER_LOCK_SECONDS: '2', WORKER_CONCURRENCY: '1' });
  const { harness } = fleet;
  const lessons = await publishSlowLessons(fleet, random, lessonCount, pause);
  const apis = await Promise.all([spawnApi(harness), spawnApi(harness)]);
  const workers = await Promise.all([spawnWorker(harness), spawnWorker(harness), spawnWorker(harness)]);

  const { answers, ask, askForAll } = startClients(fleet, apis);

  const started = performance.now();
  const { faults, stop } = startFaults({
    harness,
    random,
    workers,
    replaceWorker: () => spawnWorker(harness),
    redis,
    outageEvery: 5,
    outages: 2,
    outageMilliseconds: () => random.below(3000),
  });
  try {
    await askForAll(lessons, clientCount);
  } finally {
    await stop();
  }
  printFigure('chaos', { seed, ...answers, ...faults, seconds: (performance.now() - started) / 1000 });

  for (const lesson of lessons) expect(await ask(lesson)).toBe(true);
  const { archives, temporaries } = await fleet.stored();
  expect(archives).toHaveLength(lessonCount);
  // Killed workers leave drafts, which the sweep removes.
  expect(await harness.store.sweepTemporaries(0)).toBe(temporaries.length);
});
