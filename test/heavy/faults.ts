import { setTimeout as delay } from 'node:timers/promises';
import { startRedis } from '../../shared/embedded/redis.ts';
import type { Harness } from '../support/harness.ts';
import type { FleetProcess } from '../fleet/processes.ts';
import type { seededRandom } from './random.ts';

/** What happened to an installation. */
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
  /** A worker in the place of one that was killed. */
  replaceWorker: (index: number) => Promise<FleetProcess>;
  redis: Awaited<ReturnType<typeof startRedis>>;
  /** What holds the files, where that can be away. */
  bucket?: { gone(this: void): void; back(this: void): void };
  /** How many faults pass from one outage of Redis or the bucket to the next. */
  outageEvery: number;
  /** How often each of them is away in all, and for how long. */
  outages: number;
  outageMilliseconds: () => number;
}

/**
 * Causes faults until it is stopped: kills workers and replaces them, stops others for longer than their locks
 * live, kills Redis and starts it again, empty, and takes the bucket away for a while. All is well again when `stop`
 * has resolved.
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
    redis = await startRedis({ port: redis.port });
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
  // Whoever stops it hears of its failure; until then it must not count as unhandled.
  running.catch(() => undefined);
  return {
    faults,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
