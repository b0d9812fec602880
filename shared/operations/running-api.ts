import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../platform/config.ts';
import { withTimeLimit } from '../platform/time-limits.ts';
import { codeOf } from '../platform/errors.ts';

/** The timeout of a request to a local API. */
const requestTimeoutMs = 2_000;

const recordSchema = z.object({
  pid: z.number().int().positive(),
  url: z.url(),
  startedAt: z.iso.datetime(),
});

type ApiRecord = z.output<typeof recordSchema>;

/** Returns the URL of a server on this machine. @param host the address that it listens on. */
export function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Records the URL of this API process in the data directory, for commands in other terminals. Each process has its own
 * file.
 *
 * @returns a function that removes the record.
 */
export async function recordRunningApi(
  { dataDir, host }: Pick<Config, 'dataDir' | 'host'>,
  port: number,
): Promise<() => Promise<void>> {
  const folder = recordFolder(dataDir);
  await mkdir(folder, { recursive: true });
  for (const { path, record } of await readRecords(folder)) {
    if (!isAlive(record?.pid)) await rm(path, { force: true });
  }
  const record: ApiRecord = {
    pid: process.pid,
    url: localUrl(host, port),
    startedAt: new Date().toISOString(),
  };
  const path = join(folder, `${process.pid}.json`);
  await writeFile(`${path}.new`, JSON.stringify(record));
  await rename(`${path}.new`, path);
  return () => rm(path, { force: true });
}

/**
 * Finds an API that runs on the data directory; among several, the one that started last. Its process must be alive and
 * respond, because killed processes leave their records behind.
 *
 * @returns its URL, or null.
 */
export async function findRunningApi({ dataDir }: Pick<Config, 'dataDir'>): Promise<string | null> {
  const records = (await readRecords(recordFolder(dataDir)))
    .flatMap(({ record }) => (record !== null && isAlive(record.pid) ? [record] : []))
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt));
  for (const { url } of records) if (await responds(url)) return url;
  return null;
}

function recordFolder(dataDir: string): string {
  return join(dataDir, 'api');
}

/** Reads all records; null for an unreadable one, such as a half-written file. */
async function readRecords(folder: string): Promise<{ path: string; record: ApiRecord | null }[]> {
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
  return Promise.all(paths.map(async (path) => ({ path, record: await readRecord(path).catch(() => null) })));
}

async function readRecord(path: string): Promise<ApiRecord> {
  return recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs as another user.
    return codeOf(error) === 'EPERM';
  }
}

async function responds(url: string): Promise<boolean> {
  try {
    return await withTimeLimit({ timeoutMs: requestTimeoutMs }, async (signal) => {
      const response = await fetch(`${url}/health/live`, { redirect: 'error', signal });
      await response.body?.cancel();
      return response.ok;
    });
  } catch {
    return false;
  }
}
