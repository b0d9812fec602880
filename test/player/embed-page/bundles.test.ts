import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPlayer } from '../../../player/build.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lectern-bundles-'));
  await buildPlayer(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ['embed.js', 3],
  ['embed-page.js', 13],
  ['embed-page.css', 3],
])('%s has at most %i kB compressed', async (name, kilobytes) => {
  const { length } = gzipSync(await readFile(join(folder, name)), { level: 9 });
  expect(length).toBeLessThanOrEqual(kilobytes * 1024);
});
