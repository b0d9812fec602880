import { setTimeout as delay } from 'node:timers/promises';
import { startRedis } from '../../shared/embedded/redis.ts';
import type { Harness } from '../support/harness.ts';
import { spawnWorker } from '../fleet/processes.ts';
import type { FleetProcess } from '../fleet/processes.ts';
import type { seededRandom } from './random.ts';

/** What happened to an installation. */
export interface Faults {
  workersKilled: number;
  workersStopped: number;
  redisKilled: number;
}

export interface FaultOptions {
  harness: Harness;
  random: ReturnType<typeof seededRandom>;
  workers: FleetProcess[];
  redis: Awaited<ReturnType<typeof startRedis>>;
  /** How many faults pass from one end of Redis to the next. */
  redisEvery: number;
  /** How often Redis is killed in all. */
  redisKills: number;
}

/**
 * Does harm until it is told to stop: kills workers and replaces them, stops others for longer than their locks
 * live, kills Redis and starts it again, empty. All is well again when `stop` has resolved.
 */
export function startFaults(options: FaultOptions): { faults: Faults; stop: () => Promise<void> } {
  const { harness, random, workers, redisEvery, redisKills } = options;
  let { redis } = options;
  const faults: Faults = { workersKilled: 0, workersStopped: 0, redisKilled: 0 };
  const stopping = new AbortController();

  const killWorker = async (index: number) => {
    faults.workersKilled += 1;
    await workers[index]?.kill();
    workers[index] = await spawnWorker(harness);
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
    await delay(random.below(3000));
    redis = await startRedis({ port: redis.port });
  };
  const run = async () => {
    for (let fault = 1; !stopping.signal.aborted; fault += 1) {
      await delay(200 + random.below(1000), undefined, { signal: stopping.signal }).catch(() => undefined);
      const index = random.below(workers.length);
      if (fault % redisEvery === 0 && faults.redisKilled < redisKills) await restartRedis();
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
