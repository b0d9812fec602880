import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startRedis } from '../../shared/embedded/redis.ts';
import { slowly } from '../support/origin.ts';
import { startFleet } from '../fleet/fleet.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { expectArchive, expectCleanFailure } from '../fleet/lessons.ts';
import type { PublishedLesson } from '../fleet/lessons.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import { startFaults } from './faults.ts';
import { printFigure } from './figures.ts';
import { seededRandom } from './random.ts';

/** LECTERN_CHAOS_SEED plays other faults. */
const seed = Number(process.env.LECTERN_CHAOS_SEED ?? 20260115);
const lessonCount = 40;
const clients = 8;

/** Lessons whose media take some seconds, so that most faults hit a build. */
async function publishLessons(fleet: Fleet, below: (limit: number) => number): Promise<PublishedLesson[]> {
  const lessons: PublishedLesson[] = [];
  for (let count = 0; count < lessonCount; count += 1) {
    const lesson = await fleet.publish([below(400_000), below(400_000), below(400_000)]);
    for (const { path, bytes } of lesson.files) fleet.origin.script(path, slowly(bytes, 5, 200 + below(500)));
    lessons.push(lesson);
  }
  return lessons;
}

test('whatever is killed, each answer is the right archive or a clean 500, and in the end all are right', async () => {
  const random = seededRandom(seed);
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const fleet = await startFleet({ REDIS_URL: redis.url, WORKER_LOCK_SECONDS: '2', WORKER_CONCURRENCY: '1' });
  const { harness } = fleet;
  const lessons = await publishLessons(fleet, random.below);
  const apis = await Promise.all([spawnApi(harness), spawnApi(harness)]);
  const workers = await Promise.all([spawnWorker(harness), spawnWorker(harness), spawnWorker(harness)]);

  const answers = { right: 0, refused: 0 };
  const firstBytes = new Map<PublishedLesson, Buffer>();
  const ask = async (lesson: PublishedLesson): Promise<boolean> => {
    const answer = await fleet.request(apis[(answers.right + answers.refused) % 2] ?? apis[0], lesson);
    if (answer.status !== 200) {
      expectCleanFailure(answer);
      answers.refused += 1;
      return false;
    }
    await expectArchive(answer, lesson);
    const first = firstBytes.get(lesson) ?? answer.bytes;
    firstBytes.set(lesson, first);
    expect(answer.bytes.equals(first)).toBe(true);
    answers.right += 1;
    return true;
  };

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
  const left = [...lessons];
  const client = async () => {
    for (let lesson = left.shift(); lesson !== undefined; lesson = left.shift()) {
      // A real client waits as long as Retry-After says; these would rather be in the way of more faults.
      while (!(await ask(lesson))) await delay(500);
    }
  };
  try {
    await Promise.all(Array.from({ length: clients }, client));
  } finally {
    await stop();
  }
  printFigure('chaos', { seed, ...answers, ...faults, seconds: (performance.now() - started) / 1000 });

  for (const lesson of lessons) expect(await ask(lesson)).toBe(true);
  const { archives, temporaries } = await fleet.stored();
  expect(archives).toHaveLength(lessonCount);
  // Workers that were killed leave drafts; the sweep knows them.
  expect(await harness.store.sweepTemporaries(0)).toBe(temporaries.length);
});
