import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startMongod } from '../../shared/embedded/mongod.ts';
import { lives } from './processes.ts';
import { temporaryFolder } from '../support/folders.ts';
import { startOwnMongod, startOwnRedis } from '../support/servers.ts';
import { waitFor } from '../support/wait-for.ts';

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

test('a client that waits for events gets them without a delay', async () => {
  const server = await startOwnRedis();
  const [reader, writer] = [new Redis(server.url), new Redis(server.url)];
  onTestFinished(() => {
    reader.disconnect();
    writer.disconnect();
  });
  await Promise.all([reader.ping(), writer.ping()]);
  const delays: number[] = [];
  for (let last = '0'; delays.length < 10;) {
    const next = reader.xread('BLOCK', 10_000, 'STREAMS', 'events', last);
    await waitFor('the reader waits', async () => /^blocked_clients:1/m.test(await writer.info('clients')));
    const added = performance.now();
    const [id] = await Promise.all([writer.xadd('events', '*', 'event', 'completed'), next]);
    delays.push(performance.now() - added);
    last = String(id);
  }
  // A busy machine may delay some of them; the delayed acknowledgment of TCP, 40 ms, would delay all.
  expect(Math.min(...delays)).toBeLessThan(30);
  await server.stop();
});

test('mongod on an occupied port, or with an occupied data folder, fails with its own explanation', async () => {
  const folder = await temporaryFolder();
  const first = await startOwnMongod(folder);
  const onPort = startOwnMongod(await temporaryFolder(), first.port);
  await expect(onPort).rejects.toThrow(/^MongoDB did not start \(exit code 48\).*Address already in use/s);
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
