import { describe, expect, onTestFinished, test } from 'vitest';
import { startFleet } from '../fleet/fleet.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { PublishedLesson } from '../fleet/fleet.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import type { ApiProcess, FleetProcess } from '../fleet/processes.ts';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { startOwnRedis } from '../support/servers.ts';
import type { LocalServer } from '../../shared/embedded/mongod.ts';
import { startS3Proxy } from '../support/s3-proxy.ts';
import type { S3Proxy } from '../support/s3-proxy.ts';
import { environmentOf } from '../support/s3-server.ts';
import { publishSlowLessons, startClients } from './chaos.ts';
import { startFaults } from './chaos.ts';
import { printFigure } from './measure.ts';
import { seededRandom } from './measure.ts';
import { temporaryFolder } from '../support/folders.ts';

const s3Server = useS3Server();

/** LECTERN_CHAOS_SEED changes the requests and faults. */
const seed = Number(process.env.LECTERN_CHAOS_SEED ?? 20261121);
const lessonCount = 40;
const exportCount = 200;
const clientCount = 16;
const pause = { least: 100, more: 300 };
const outageMilliseconds = 10_000;

interface SharedFleet {
  fleet: Fleet;
  bucket: S3Proxy;
  redis: LocalServer;
  apis: ApiProcess[];
  workers: FleetProcess[];
  /** Starts a worker on the machine of another one. */
  replaceWorker: (index: number) => Promise<FleetProcess>;
}

/** Starts two APIs and three workers, each with its own data directory: they share MongoDB, Redis and a bucket. */
async function startSharedFleet(): Promise<SharedFleet> {
  if (s3Server === null) throw new Error(s3Name);
  const { settings } = await s3Server();
  const prefix = `${Math.random().toString(36).slice(2)}/`;
  const bucket = await startS3Proxy(settings.endpoint ?? '', prefix);
  const redis = await startOwnRedis();
  onTestFinished(() => redis.stop());
  const fleet = await startFleet({
    ...environmentOf({ ...settings, endpoint: bucket.endpoint, prefix }),
    REDIS_URL: redis.url,
    WORKER_LOCK_SECONDS: '2',
  });
  const { harness } = fleet;
  const machines = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const folder = await temporaryFolder();
      return { LECTERN_DATA_DIR: folder };
    }),
  );
  const replaceWorker = (index: number) => spawnWorker(harness, machines[2 + index]);
  return {
    fleet,
    bucket,
    redis,
    apis: await Promise.all([spawnApi(harness, machines[0]), spawnApi(harness, machines[1])]),
    workers: await Promise.all([0, 1, 2].map(replaceWorker)),
    replaceWorker,
  };
}

/** Returns the requests of all clients: each lesson several times, in random order. */
function randomOrder(lessons: PublishedLesson[], below: (limit: number) => number): PublishedLesson[] {
  const all = Array.from({ length: exportCount }, (_, index) => lessons[index % lessons.length]);
  const shuffled: PublishedLesson[] = [];
  while (all.length > 0) {
    const [lesson] = all.splice(below(all.length), 1);
    if (lesson !== undefined) shuffled.push(lesson);
  }
  return shuffled;
}

describe.skipIf(s3Server === null)(`three workers and two APIs on machines that share ${s3Name}`, () => {
  test('during kills of workers, and outages of the bucket and Redis, every response is right and every export ends', async () => {
    const random = seededRandom(seed + 1);
    const shared = await startSharedFleet();
    const { fleet, bucket, redis, workers, replaceWorker } = shared;
    const lessons = await publishSlowLessons(fleet, random, lessonCount, pause);
    const { answers, askForAll } = startClients(fleet, shared.apis);
    const started = performance.now();
    const { faults, stop } = startFaults({
      harness: fleet.harness,
      random,
      workers,
      replaceWorker,
      redis,
      bucket,
      outageEvery: 4,
      outages: 1,
      outageMilliseconds: () => outageMilliseconds,
    });
    try {
      await askForAll(randomOrder(lessons, random.below), clientCount);
    } finally {
      await stop();
    }
    const seconds = (performance.now() - started) / 1000;
    printFigure('shared bucket, with faults', { seed: seed + 1, ...answers, ...faults, seconds });
    expect(answers.right).toBe(exportCount);
    expect(faults).toMatchObject({ redisKilled: 1, bucketGone: 1 });
    const again = startClients(fleet, shared.apis);
    await again.askForAll(lessons, clientCount);
    expect(again.answers).toEqual({ right: lessonCount, rejected: 0 });
  });
});
