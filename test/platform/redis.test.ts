import { expect, inject, test } from 'vitest';
import { connectOptionalRedis, connectRedis } from '../../shared/platform/redis.ts';

test.each([
  ['the API', connectRedis],
  ['a worker', connectOptionalRedis],
])('%s rejects a database that the server lacks, and uses one that it has', async (_who, connect) => {
  const url = new URL(inject('redisUrl'));
  url.pathname = '/9999';
  await expect(connect(url.href)).rejects.toThrow(/has no database 9999 .*Correct the number in REDIS_URL/);
  url.pathname = '/1';
  const redis = await connect(url.href);
  expect(redis.options.db).toBe(1);
  redis.disconnect();
});
