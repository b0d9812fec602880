import { expect, onTestFinished, test } from 'vitest';
import { connectOptionalRedis } from '../../shared/platform/redis.ts';
import { createCoordination } from '../../shared/coordination/coordination.ts';
import { trackUsage } from '../../shared/storage/tracked-store.ts';
import { storeDownload } from '../maintenance/eviction/evictable.ts';
import { startFrozenProxy } from '../fleet/frozen-proxy.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';

test('a hanging Redis blocks no request: files are found without it', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { hostname, port } = new URL(harness.servers.redisUrl);
  const proxy = await startFrozenProxy({ host: hostname, port: Number(port) });
  const redis = await connectOptionalRedis(`redis://127.0.0.1:${proxy.port}`, () => undefined);
  const coordination = createCoordination(redis, harness.config);
  onTestFinished(() => {
    coordination.usage.close();
    redis.disconnect();
  });
  const file = await storeDownload(harness, 10, 1);
  proxy.freeze();

  expect(await trackUsage(harness.store, coordination.usage).cache.has(file.digest)).toBe(true);
  // The dead connection is replaced, so that other processes see file usage again.
  await waitFor('another connection', () => redis.ping(), 30_000);
});
