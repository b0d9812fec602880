import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { compile } from '../../esbuild.config.ts';
import { acquireEmbeddedServers } from '../../shared/embedded/embedded-servers.ts';
import { serveS3OnRequest } from './s3-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The MongoDB of this test run; each test file replaces the database name by its own. */
    mongodbUri: string;
    /** The Redis of this test run; each test file uses its own key prefix. */
    redisUrl: string;
    /** The folder of fetched binaries. */
    cacheDir: string;
    /** A folder that is removed after the test run. */
    runDir: string;
  }
}

/** A folder in memory, on Linux. */
const memory = '/dev/shm';

/** More than the servers of a test run write. */
const requiredBytes = 4 * 1024 ** 3;

/**
 * Compiles Lectern into `dist/`, from where processes start as in installations, and starts one MongoDB and one Redis for
 * the whole test run, with a data directory that is removed afterwards.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cacheDir = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'lectern');
  const runDir = await mkdtemp(join(tmpdir(), 'lectern-test-'));
  const dataDir = await mkdtemp(join((await memoryFolder()) ?? tmpdir(), 'lectern-test-'));
  const report = (message: string) => process.stderr.write(`${message}\n`);
  const removeData = async () => {
    for (const folder of [dataDir, runDir]) await rm(folder, { recursive: true, force: true });
  };
  try {
    await compile();
    const servers = await acquireEmbeddedServers({ dataDir, cacheDir }, report);
    project.provide('mongodbUri', servers.mongodbUri);
    project.provide('redisUrl', servers.redisUrl);
    project.provide('cacheDir', cacheDir);
    project.provide('runDir', runDir);
    const stopS3 = serveS3OnRequest(runDir, cacheDir);
    return async () => {
      await Promise.all([stopS3(), servers.release()]);
      await removeData();
    };
  } catch (error) {
    await removeData();
    throw error;
  }
}

/**
 * Returns a folder in memory for the servers' data, if there is enough. Each test file has its own database with 45
 * tables, which take MongoDB half of the CPU without disk writes, and a seventh of the time.
 */
async function memoryFolder(): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(memory);
    return bavail * bsize >= requiredBytes ? memory : undefined;
  } catch {
    return undefined;
  }
}
