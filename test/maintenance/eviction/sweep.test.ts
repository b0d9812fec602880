import { expect, test } from 'vitest';
import { createLogger } from '../../../shared/platform/log.ts';
import type { Store } from '../../../shared/storage/store.ts';
import { startSweeping } from '../../../worker/maintenance/sweep.ts';
import { evictorOf, useEviction } from './evictable.ts';

const lab = useEviction();

function sweepWith(sweepTemporaries: Store['sweepTemporaries']) {
  const { harness, worker } = lab;
  const { db, config } = harness;
  const store = { ...harness.store, sweepTemporaries };
  const evictor = evictorOf(harness, worker, {});
  const log = createLogger(config, 'test');
  const onEvicted = () => undefined;
  return startSweeping({
    db,
    store,
    redis: worker.redis,
    evictor,
    onEvicted,
    config,
    log,
  });
}

test('a worker that shuts down aborts its sweep', async () => {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const sweeping = sweepWith((_seconds, signal) => {
    begin();
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  });
  await begun;
  await sweeping.stop();
});

test('exactly one of several starting workers sweeps the shared data', async () => {
  let sweeps = 0;
  let finish: () => void = () => undefined;
  const swept = new Promise<void>((resolve) => (finish = resolve));
  const sweepings = [1, 2, 3].map(() =>
    sweepWith(() => {
      sweeps += 1;
      finish();
      return Promise.resolve(0);
    }),
  );
  await swept;
  await lab.worker.redis.ping();
  for (const sweeping of sweepings) await sweeping.stop();
  expect(sweeps).toBe(1);
});
