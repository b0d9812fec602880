import { expect, onTestFinished, test } from 'vitest';
import { connectOptionalRedis } from '../../shared/platform/redis.ts';
import { createCoordination } from '../../shared/coordination/coordination.ts';
import { trackUsage } from '../../shared/storage/tracked-store.ts';
import { storeDownload } from '../maintenance/eviction/evictable.ts';
import { startFrozenProxy } from '../fleet/frozen-proxy.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';

test('a hanging Redis blocks no request: files are found and downloaded without it', async () => {
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
  const since = await coordination.downloads.now();
  proxy.freeze();

  expect(await trackUsage(harness.store, coordination.usage).cache.has(file.digest)).toBe(true);
  const url = 'http://127.0.0.1/frozen.png';
  const types = { declaredType: 'image/png', mimeType: 'image/png' };
  const downloaded = { url, file: file.digest, ...types, etag: null, lastModified: null };
  const { signal } = new AbortController();
  const request = { organizationId: 'tenant', url, mimeType: 'image/png', maxBytes: 1000 };
  const wanted = { ...request, since, signal };
  const shared = await coordination.downloads.share(wanted, () => Promise.resolve(downloaded));
  expect(shared).toBe(downloaded);
  // The dead connection is replaced, so that other processes see file usage again.
  await waitFor('another connection', () => redis.ping(), 30_000);
});
