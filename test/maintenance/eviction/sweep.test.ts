import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '../../../shared/platform/log.ts';
import type { Store } from '../../../shared/storage/store.ts';
import { startSweeping } from '../../../worker/maintenance/sweep.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';
import { evictorOf, joinStore } from './evictable.ts';
import type { StoreClient } from './evictable.ts';

async function startLab() {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  return { harness, worker: await joinStore(harness) };
}

function sweepWith(harness: Harness, worker: StoreClient, sweepTemporaries: Store['sweepTemporaries']) {
  const { db, config } = harness;
  const store = { ...harness.store, sweepTemporaries };
  const evictor = evictorOf(harness, worker, {});
  const log = createLogger(config, 'test');
  return startSweeping({ db, store, redis: worker.redis, evictor, onEvicted: () => undefined, config, log });
}

test('a worker that is to end waits for no sweep', async () => {
  const { harness, worker } = await startLab();
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const sweeping = sweepWith(harness, worker, (_seconds, signal) => {
    begin();
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  await begun;
  await sweeping.stop();
});

test('of all workers that start one sweeps what they share', async () => {
  const { harness, worker } = await startLab();
  let sweeps = 0;
  let finish: () => void = () => undefined;
  const swept = new Promise<void>((resolve) => (finish = resolve));
  const sweepings = [1, 2, 3].map(() =>
    sweepWith(harness, worker, () => {
      sweeps += 1;
      finish();
      return Promise.resolve(0);
    }),
  );
  await swept;
  await worker.redis.ping();
  for (const sweeping of sweepings) await sweeping.stop();
  expect(sweeps).toBe(1);
});
