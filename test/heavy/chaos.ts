import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { LocalServer } from '../../shared/embedded/mongod.ts';
import { startOwnRedis } from '../support/servers.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { expectArchive, expectCleanFailure } from '../fleet/fleet.ts';
import type { PublishedLesson } from '../fleet/fleet.ts';
import type { ApiProcess, FleetProcess } from '../fleet/processes.ts';
import type { Harness } from '../support/harness.ts';
import { slowly } from '../support/origin.ts';
import type { seededRandom } from './measure.ts';

/** Integrators that request archives from APIs in turn: each response is right, or a clean failure. */
export function startClients(fleet: Fleet, apis: readonly ApiProcess[]) {
  const answers = { right: 0, rejected: 0 };
  const first = new Map<PublishedLesson, Buffer>();

  /** Requests a lesson; false if the API rejects it. All responses for a lesson have the same bytes. */
  async function ask(lesson: PublishedLesson): Promise<boolean> {
    const api = apis[(answers.right + answers.rejected) % apis.length];
    if (api === undefined) throw new Error('No API');
    const answer = await fleet.request(api, lesson);
    if (answer.status !== 200) {
      expectCleanFailure(answer);
      answers.rejected += 1;
      return false;
    }
    await expectArchive(answer, lesson);
    const before = first.get(lesson) ?? answer.body;
    first.set(lesson, before);
    expect(answer.body.equals(before)).toBe(true);
    answers.right += 1;
    return true;
  }

  /** Requests all lessons with several concurrent clients, which retry rejected requests. */
  async function askForAll(lessons: readonly PublishedLesson[], clients: number): Promise<void> {
    const left = [...lessons];
    const client = async () => {
      for (let lesson = left.shift(); lesson !== undefined; lesson = left.shift()) {
        // A real client waits for Retry-After; these retry sooner, so that more faults hit them.
        while (!(await ask(lesson))) await delay(500);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  return { answers, askForAll };
}

/**
 * Publishes lessons with slow media, so that builds overlap and faults hit them.
 *
 * @param pause milliseconds between the five pieces of a file: the least, and the random range above it.
 */
export async function publishSlowLessons(
  fleet: Fleet,
  { below }: ReturnType<typeof seededRandom>,
  count: number,
  pause: { least: number; more: number },
): Promise<PublishedLesson[]> {
  const lessons: PublishedLesson[] = [];
  while (lessons.length < count) {
    const lesson = await fleet.publish([below(400_000), below(400_000), below(400_000)]);
    for (const { path, bytes } of lesson.files) {
      fleet.origin.script(path, slowly(bytes, 5, pause.least + below(pause.more)));
    }
    lessons.push(lesson);
  }
  return lessons;
}

/** The faults that an installation had. */
export interface Faults {
  workersKilled: number;
  workersStopped: number;
  redisKilled: number;
  bucketGone: number;
}

export interface FaultOptions {
  harness: Harness;
  random: ReturnType<typeof seededRandom>;
  workers: FleetProcess[];
  /** Starts a worker in place of a killed one. */
  replaceWorker: (index: number) => Promise<FleetProcess>;
  redis: LocalServer;
  /** The bucket, if it can be unavailable. */
  bucket?: { gone(this: void): void; back(this: void): void };
  /** The number of faults between two outages of Redis or the bucket. */
  outageEvery: number;
  /** The number of outages of each, and their duration. */
  outages: number;
  outageMilliseconds: () => number;
}

/**
 * Causes faults until `stop`: kills and replaces workers, pauses others beyond their locks, restarts Redis without its
 * data, and makes the bucket unavailable for a while. Everything runs again when `stop` has resolved.
 */
export function startFaults(options: FaultOptions): { faults: Faults; stop: () => Promise<void> } {
  const { harness, random, workers, replaceWorker, bucket, outageMilliseconds } = options;
  let { redis } = options;
  const faults: Faults = { workersKilled: 0, workersStopped: 0, redisKilled: 0, bucketGone: 0 };
  const stopping = new AbortController();

  const killWorker = async (index: number) => {
    faults.workersKilled += 1;
    await workers[index]?.kill();
    workers[index] = await replaceWorker(index);
  };
  const stopWorker = async (index: number) => {
    faults.workersStopped += 1;
    workers[index]?.signal('SIGSTOP');
    await delay(harness.config.worker.lockSeconds * 2000 + random.below(2000));
    workers[index]?.signal('SIGCONT');
  };
  const restartRedis = async () => {
    faults.redisKilled += 1;
    redis.kill();
    await redis.exited;
    await delay(outageMilliseconds());
    redis = await startOwnRedis(redis.port);
  };
  const takeBucketAway = async () => {
    faults.bucketGone += 1;
    bucket?.gone();
    await delay(outageMilliseconds());
    bucket?.back();
  };
  const outages = [restartRedis, ...(bucket === undefined ? [] : [takeBucketAway])].flatMap((outage) =>
    Array.from({ length: options.outages }, () => outage),
  );
  const run = async () => {
    for (let fault = 1; !stopping.signal.aborted; fault += 1) {
      await delay(200 + random.below(1000), undefined, { signal: stopping.signal }).catch(() => undefined);
      const index = random.below(workers.length);
      const outage = fault % options.outageEvery === 0 ? outages.shift() : undefined;
      if (outage !== undefined) await outage();
      else if (random.below(4) === 0) await stopWorker(index);
      else await killWorker(index);
    }
  };
  const running = run();
  // `stop` reports its failure; until then it must not count as unhandled.
  running.catch(() => undefined);
  return {
    faults,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
