import { expect, onTestFinished, test } from 'vitest';
import { incompleteKey } from '../../../shared/exports/jobs.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';
import { ageFiles, ageStore, evictorOf, joinStore, backdateUsage, storeArchive } from './evictable.ts';

async function storeIncomplete({ store }: Harness, key: string): Promise<() => Promise<boolean>> {
  const draft = await store.archives.create();
  await draft.write([Buffer.from('an archive')]);
  await draft.publish(incompleteKey(key), 'a'.repeat(64));
  await draft.discard();
  return async () => {
    const archive = await store.archives.open(incompleteKey(key));
    await archive?.close();
    return archive !== null;
  };
}

test('an archive that lacks files goes when it is not served any more, and no other of its age', async () => {
  const harness = await startHarness({ DEGRADED_EXPORT_SECONDS: '60' });
  onTestFinished(() => harness.close());
  const worker = await joinStore(harness);
  await backdateUsage(harness, worker.redis);
  const complete = await storeArchive(harness, 10, 0);
  const [oldKey, youngKey] = [`x${'1'.repeat(40)}`, `x${'2'.repeat(40)}`];
  const isOldThere = await storeIncomplete(harness, oldKey);
  await worker.coordination.incomplete.note(oldKey);
  await worker.redis.hincrby(`${harness.config.redisPrefix}:incomplete:${oldKey}`, 'at', -600_000);
  await ageStore(harness, worker.redis, 10);
  // Looking at one is a use, also where it is too old to be served.
  await ageFiles(harness, worker.redis, [complete.name, `archives:${incompleteKey(oldKey)}`], 5);
  await worker.coordination.incomplete.note(youngKey);
  const isYoungThere = await storeIncomplete(harness, youngKey);

  const evicted = await evictorOf(harness, worker, { maxAgeHours: 720 }).keepLimits();
  expect(evicted).toEqual({ files: 1, bytes: 10 });
  expect([await isOldThere(), await isYoungThere(), await complete.isThere()]).toEqual([false, true, true]);
});
