import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { acquireEmbeddedServers, embeddedServersRun } from '../../shared/embedded/client.ts';
import { waitFor } from './wait-for.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The MongoDB of this test run, with a database name that each test file replaces by one of its own. */
    mongodbUri: string;
    /** The Redis of this test run; each test file uses a key prefix of its own. */
    redisUrl: string;
    /** The folder of fetched binaries. */
    cacheDir: string;
    /** A folder that is removed after the test run, so that tests need not remove its files. */
    runDir: string;
  }
}

/** A folder in memory, where Linux has one. */
const memory = '/dev/shm';

/** More than the servers of a test run come to write. */
const roomBytes = 4 * 1024 ** 3;

/** One MongoDB and one Redis for the whole test run, over a data directory that is removed afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cacheDir = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'lectern');
  const runDir = await mkdtemp(join(tmpdir(), 'lectern-test-'));
  const dataDir = await mkdtemp(join((await roomyMemory()) ?? tmpdir(), 'lectern-test-'));
  const report = (message: string) => process.stderr.write(`${message}\n`);
  const removeData = async () => {
    for (const folder of [dataDir, runDir]) await rm(folder, { recursive: true, force: true });
  };
  try {
    const servers = await acquireEmbeddedServers({ dataDir, cacheDir, report });
    project.provide('mongodbUri', servers.mongodbUri);
    project.provide('redisUrl', servers.redisUrl);
    project.provide('cacheDir', cacheDir);
    project.provide('runDir', runDir);
    return async () => {
      await servers.release();
      await waitFor('the end of the servers', async () => !(await embeddedServersRun(dataDir)), 30_000);
      await removeData();
    };
  } catch (error) {
    await removeData();
    throw error;
  }
}

/**
 * Each test file has a database of its own: 45 tables, which take MongoDB half of the CPU where nothing waits for a
 * disk, and a seventh of the time. No test is about the disk of these servers.
 */
async function roomyMemory(): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(memory);
    return bavail * bsize >= roomBytes ? memory : undefined;
  } catch {
    return undefined;
  }
}
