import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startMongod } from '../../shared/embedded/mongod.ts';
import { lives } from './processes.ts';
import { temporaryFolder } from '../support/folders.ts';
import { startOwnMongod, startOwnRedis } from '../support/servers.ts';

test('Redis restarts empty on its port, rejects a second server there, and never evicts keys', async () => {
  const first = await startOwnRedis();
  const client = new Redis(first.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  expect(await client.set('key', 'value')).toBe('OK');
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  await expect(startOwnRedis(first.port)).rejects.toThrow(/Redis did not start.*already in use/s);

  first.kill();
  expect(await first.exited).toBe('signal SIGKILL');
  const second = await startOwnRedis(first.port);
  expect(second.url).toBe(first.url);
  expect(await client.get('key')).toBeNull();
  await second.stop();
  expect(lives(second.pid)).toBe(false);
});

test('mongod with an occupied data folder fails with its own explanation', async () => {
  const folder = await temporaryFolder();
  const first = await startOwnMongod(folder);
  await expect(startOwnMongod(folder)).rejects.toThrow(/exit code 100.*DBPathInUse/s);
  await first.stop();
  expect(lives(first.pid)).toBe(false);
});

test('a program that is not MongoDB fails with its own output', async () => {
  const binary = join(await temporaryFolder(), 'mongod');
  await writeFile(binary, '#!/bin/sh\necho "cannot open libcrypto"\nexit 3\n', { mode: 0o755 });
  const starting = startMongod(binary, await temporaryFolder());
  await expect(starting).rejects.toThrow(/exit code 3.*cannot open libcrypto/s);
});
