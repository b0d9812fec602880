// cspell:ignore unstub -- a word of vitest
import { readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findMongod } from '../../shared/embedded/find-mongod.ts';
import type { MongodSource } from '../../shared/embedded/find-mongod.ts';
import { temporaryFolder } from '../support/folders.ts';

const workingBinary = '#!/bin/sh\necho "db version v1.2.3"\n';

/** Returns a source whose binary is a script, and the count of its fetches. */
function source(overrides: Partial<MongodSource> = {}) {
  const fetches = { count: 0 };
  const fake: MongodSource = {
    version: '1.2.3',
    place: 'a test',
    async fetch(folder) {
      fetches.count += 1;
      const path = join(folder, 'fetched');
      await writeFile(path, workingBinary, { mode: 0o755 });
      return path;
    },
    ...overrides,
  };
  return { fake, fetches };
}

function find(cacheDir: string, sources: MongodSource[], report = (_message: string) => {}) {
  return findMongod(cacheDir, report, sources);
}

/** Returns the content of a cache folder, including running and killed fetches. */
async function filesIn(cacheDir: string): Promise<string[]> {
  return (await readdir(cacheDir, { recursive: true })).filter((name) => name !== 'mongodb-v1').sort();
}

beforeEach(() => {
  // Without an installed mongod.
  vi.stubEnv('PATH', '/nowhere');
  onTestFinished(() => void vi.unstubAllEnvs());
});

describe('finding mongod', () => {
  test('an installed mongod is used without a fetch', async () => {
    const cacheDir = await temporaryFolder();
    const installed = join(await temporaryFolder(), 'mongod');
    await writeFile(installed, workingBinary, { mode: 0o755 });
    const { fake, fetches } = source();
    vi.stubEnv('PATH', dirname(installed));
    const found = await find(cacheDir, [fake]);
    expect(found).toBe(installed);
    expect(fetches.count).toBe(0);
  });

  test('a cached binary is not fetched again', async () => {
    const cacheDir = await temporaryFolder();
    const { fake, fetches } = source();
    const first = await find(cacheDir, [fake]);
    expect(await find(cacheDir, [fake])).toBe(first);
    expect(fetches.count).toBe(1);
    expect(await filesIn(cacheDir)).toHaveLength(1);
  });

  test('a cached binary of a later source is preferred to a fetch from an earlier one', async () => {
    const cacheDir = await temporaryFolder();
    const later = source({ version: '1.0.0' });
    const cached = await find(cacheDir, [later.fake]);
    const earlier = source({ version: '2.0.0' });
    expect(await find(cacheDir, [earlier.fake, later.fake])).toBe(cached);
    expect(earlier.fetches.count).toBe(0);
  });

  test('two concurrent fetches both end with a complete binary', async () => {
    const cacheDir = await temporaryFolder();
    const { fake } = source();
    const [one, two] = await Promise.all([find(cacheDir, [fake]), find(cacheDir, [fake])]);
    expect(one).toBe(two);
    expect(await filesIn(cacheDir)).toHaveLength(1);
  });

  test('a fetched binary that does not run here is deleted, and the next source is tried', async () => {
    const cacheDir = await temporaryFolder();
    const broken = source({
      version: '2.0.0',
      async fetch(folder) {
        const path = join(folder, 'fetched');
        await writeFile(path, '#!/bin/sh\nexit 127\n', { mode: 0o755 });
        return path;
      },
    });
    const { fake } = source();
    expect(await find(cacheDir, [broken.fake, fake])).toContain('1.2.3');
    expect(await filesIn(cacheDir)).toHaveLength(1);
  });

  test('when every source fails, the error lists the attempts and a solution', async () => {
    const failing = source({ fetch: () => Promise.reject(new Error('the network is down')) });
    const messages: string[] = [];
    const finding = find(await temporaryFolder(), [failing.fake], (message) => messages.push(message));
    await expect(finding).rejects.toThrow(
      'There is no MongoDB for the embedded server:\n' +
        '  - mongod is not on PATH\n' +
        '  - MongoDB 1.2.3 from a test: the network is down\n' +
        'Set MONGODB_URI to the URL of a MongoDB server, or run `docker compose up`.',
    );
    expect(messages).toEqual([
      'Fetching MongoDB 1.2.3 from a test',
      'There is no MongoDB 1.2.3 from a test: the network is down',
    ]);
  });
});
