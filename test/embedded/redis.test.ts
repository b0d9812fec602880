import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startRedis } from '../../shared/embedded/redis.ts';
import { lives } from './processes.ts';

test('a stand-alone Redis that was killed can restart on its port', async () => {
  const first = await startRedis();
  const client = new Redis(first.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  expect(await client.set('key', 'value')).toBe('OK');

  first.kill();
  expect(await first.exited).toBe('signal SIGKILL');
  const second = await startRedis({ port: first.port });
  expect(second.url).toBe(first.url);
  expect(await client.get('key')).toBeNull();

  await second.stop();
  expect(lives(second.pid)).toBe(false);
});

test('Redis on an occupied port fails with its last output', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  await expect(startRedis({ port: redis.port })).rejects.toThrow(/Redis did not start.*already in use/s);
});

test('Redis rejects writes instead of evicting keys when its memory is full', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
});
