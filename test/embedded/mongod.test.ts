import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { findMongod } from '../../shared/embedded/find-mongod.ts';
import { readableLogLine, startMongod } from '../../shared/embedded/mongod.ts';
import { lives, temporaryFolder } from './processes.ts';

async function binary(): Promise<string> {
  const { signal } = new AbortController();
  return findMongod({ cacheDir: inject('cacheDir'), report: () => undefined, signal });
}

test('a stand-alone mongod that was killed can restart on its port', async () => {
  const options = { binary: await binary(), dbPath: await temporaryFolder() };
  const first = await startMongod(options);
  first.kill();
  await first.exited;
  const second = await startMongod({ ...options, port: first.port });
  expect(second.url).toBe(first.url);
  await second.stop();
  expect(lives(second.pid)).toBe(false);
});

test('an error about a mongod that fails to start quotes its log in readable lines', async () => {
  const taken = await startMongod({ binary: await binary(), dbPath: await temporaryFolder() });
  onTestFinished(() => taken.stop());
  const starting = startMongod({
    binary: await binary(),
    dbPath: await temporaryFolder(),
    port: taken.port,
  });
  await expect(starting).rejects.toThrow(/^MongoDB did not start \(exit code 48\)\. Its last output:\n/);
  await expect(starting).rejects.toThrow(/\n {2}E [A-Z]+ .*Address already in use/);
});

test('a program that is not MongoDB fails with its own output', async () => {
  const program = join(await temporaryFolder(), 'mongod');
  await writeFile(program, '#!/bin/sh\necho "cannot open libcrypto"\nexit 3\n', { mode: 0o755 });
  const starting = startMongod({ binary: program, dbPath: await temporaryFolder() });
  await expect(starting).rejects.toThrow(/exit code 3.*cannot open libcrypto/s);
});

test('log lines are made readable, even if they are not JSON', () => {
  const line = '{"t":{"$date":"2026-01-01"},"s":"E","c":"STORAGE","id":1,"msg":"Failed","attr":{"code":2}}';
  expect(readableLogLine(line)).toBe('E STORAGE Failed: {"code":2}');
  expect(readableLogLine('Segmentation fault')).toBe('Segmentation fault');
});
