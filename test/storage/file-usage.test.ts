import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { evictorOf, joinStore, backdateUsage, storeDownload } from '../maintenance/eviction/evictable.ts';
import { startHarness } from '../support/harness.ts';

test('a file that has to stay is noted when Redis hears of it, though it did not the first time', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const [signer, worker] = [await joinStore(harness), await joinStore(harness)];
  await backdateUsage(harness, worker.redis);
  const file = await storeDownload(harness, 10, 3 * 60);
  const until = new Date(Date.now() + 3_600_000);
  const away = once(signer.redis, 'end');
  signer.redis.disconnect();
  await away;
  await signer.coordination.usage.pinUntil([file.name], until);

  await signer.redis.connect();
  await signer.coordination.usage.pinUntil([file.name], until);
  await evictorOf(harness, worker, { maxAgeHours: 1 }).keepLimits();
  expect(await file.isThere()).toBe(true);
});
