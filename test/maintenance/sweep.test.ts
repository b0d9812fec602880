import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../shared/platform/log.ts';
import { connectOptionalRedis } from '../../shared/platform/redis.ts';
import type { Store } from '../../shared/storage/store.ts';
import { startSweeping } from '../../worker/maintenance/sweep.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

/** Returns a function that starts the sweeps of a worker. */
async function prepareSweeps(sweepTemporaries: Store['sweepTemporaries']) {
  const { db, config, servers } = harness;
  const redis = await connectOptionalRedis(servers.redisUrl, () => undefined);
  onTestFinished(() => redis.disconnect());
  await redis.del(`${config.redisPrefix}:sweep:turn`);
  const store = { ...harness.store, sweepTemporaries };
  const limits = { maxBytes: 0, maxAgeHours: 0 };
  const observer = { evicted: () => undefined };
  const log = createLogger(config, 'test');
  return { redis, start: () => startSweeping({ db, store, redis, limits, observer, config, log }) };
}

test('a worker that shuts down aborts its sweep', async () => {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const { start } = await prepareSweeps((_seconds, signal) => {
    begin();
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  const sweeping = start();
  await begun;
  await sweeping.stop();
});

test('exactly one of several starting workers sweeps the shared data', async () => {
  let sweeps = 0;
  let finish: () => void = () => undefined;
  const swept = new Promise<void>((resolve) => (finish = resolve));
  const { redis, start } = await prepareSweeps(() => {
    sweeps += 1;
    finish();
    return Promise.resolve(0);
  });
  const sweepings = [1, 2, 3].map(start);
  await swept;
  await redis.ping();
  for (const sweeping of sweepings) await sweeping.stop();
  expect(sweeps).toBe(1);
});
