import { expect, onTestFinished, test } from 'vitest';
import { connectOptionalRedis } from '../../shared/platform/redis.ts';
import { createIncompleteBuilds } from '../../shared/coordination/incomplete-builds.ts';
import { BestEffortRedis } from '../../shared/platform/best-effort-redis.ts';
import { startFrozenProxy } from '../fleet/frozen-proxy.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';

test('a hanging Redis blocks no request for an archive', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { hostname, port } = new URL(harness.servers.redisUrl);
  const proxy = await startFrozenProxy({ host: hostname, port: Number(port) });
  const redis = await connectOptionalRedis(`redis://127.0.0.1:${proxy.port}`, () => undefined);
  onTestFinished(() => redis.disconnect());
  const incomplete = createIncompleteBuilds(new BestEffortRedis(redis, harness.config.redisPrefix));
  expect(await incomplete.find(['key'])).toEqual([null]);
  proxy.freeze();
  expect(await incomplete.find(['key'])).toBeUndefined();
  // The dead connection is replaced.
  await waitFor('another connection', () => redis.ping(), 30_000);
});
