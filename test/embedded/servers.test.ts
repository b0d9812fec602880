import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, inject, onTestFinished, test } from 'vitest';
import { findMongod } from '../../shared/embedded/find-mongod.ts';
import { readableLogLine, startMongod } from '../../shared/embedded/mongod.ts';
import { startRedis } from '../../shared/embedded/redis.ts';
import { lives } from './processes.ts';
import { temporaryFolder } from '../support/folders.ts';
import { waitFor } from '../support/wait-for.ts';

test('Redis restarts empty on its port, rejects a second server there, and never evicts keys', async () => {
  const first = await startRedis();
  const client = new Redis(first.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  expect(await client.set('key', 'value')).toBe('OK');
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
  await expect(startRedis({ port: first.port })).rejects.toThrow(/Redis did not start.*already in use/s);

  first.kill();
  expect(await first.exited).toBe('signal SIGKILL');
  const second = await startRedis({ port: first.port });
  expect(second.url).toBe(first.url);
  expect(await client.get('key')).toBeNull();
  await second.stop();
  expect(lives(second.pid)).toBe(false);
});

test('a client that waits for events gets them without a delay', async () => {
  const server = await startRedis();
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

test('mongod on an occupied port is reported with its readable log', async () => {
  const { signal } = new AbortController();
  const binary = await findMongod({ cacheDir: inject('cacheDir'), report: () => undefined, signal });
  const first = await startMongod({ binary, dbPath: await temporaryFolder() });
  const starting = startMongod({ binary, dbPath: await temporaryFolder(), port: first.port });
  await expect(starting).rejects.toThrow(/^MongoDB did not start \(exit code 48\)\. Its last output:\n/);
  await expect(starting).rejects.toThrow(/\n {2}E [A-Z]+ .*Address already in use/);
  await first.stop();
  expect(lives(first.pid)).toBe(false);
});

test('a program that is not MongoDB fails with its own output', async () => {
  const binary = join(await temporaryFolder(), 'mongod');
  await writeFile(binary, '#!/bin/sh\necho "cannot open libcrypto"\nexit 3\n', { mode: 0o755 });
  const starting = startMongod({ binary, dbPath: await temporaryFolder() });
  await expect(starting).rejects.toThrow(/exit code 3.*cannot open libcrypto/s);
});

test('log lines are made readable, even if they are not JSON', () => {
  const line = '{"t":{"$date":"2026-01-01"},"s":"E","c":"STORAGE","id":1,"msg":"Failed","attr":{"code":2}}';
  expect(readableLogLine(line)).toBe('E STORAGE Failed: {"code":2}');
  expect(readableLogLine('Segmentation fault')).toBe('Segmentation fault');
});
