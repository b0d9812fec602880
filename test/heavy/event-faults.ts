import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { startOwnMongod, startOwnRedis } from '../support/servers.ts';
import { spawnApi, spawnWorker } from '../fleet/processes.ts';
import type { FleetProcess } from '../fleet/processes.ts';
import { startHarness } from '../support/harness.ts';
import type { seededRandom } from './measure.ts';
import { temporaryFolder } from '../support/folders.ts';

/** An installation whose processes and servers can all be killed. */
export type FragileInstallation = Awaited<ReturnType<typeof startFragileInstallation>>;

export const faultNames = ['api', 'worker', 'redis', 'mongodb'] as const;

/** Starts an API, two workers and servers of their own. The test stops them at its end. */
export async function startFragileInstallation(
  { below }: ReturnType<typeof seededRandom>,
  settings: Record<string, string>,
) {
  const dbPath = await temporaryFolder();
  let mongod = await startOwnMongod(dbPath);
  onTestFinished(() => mongod.stop());
  let redis = await startOwnRedis();
  onTestFinished(() => redis.stop());
  const harness = await startHarness({ MONGODB_URI: mongod.url, REDIS_URL: redis.url, ...settings });
  onTestFinished(() => harness.close());
  let api = await spawnApi(harness);
  const workers: FleetProcess[] = [await spawnWorker(harness), await spawnWorker(harness)];
  return {
    harness,
    /** Returns the URL of an API that runs, or that ran just now. */
    address: () => api.address,
    /** Kills one part, and starts it again. */
    faults: {
      async api() {
        await api.kill();
        api = await spawnApi(harness);
      },
      async worker() {
        const index = below(workers.length);
        await workers[index]?.kill();
        workers[index] = await spawnWorker(harness);
      },
      async redis() {
        redis.kill();
        await redis.exited;
        await delay(below(2000));
        redis = await startOwnRedis(redis.port);
      },
      async mongodb() {
        mongod.kill();
        await mongod.exited;
        await delay(below(1000));
        mongod = await startOwnMongod(dbPath, mongod.port);
      },
    },
  };
}
