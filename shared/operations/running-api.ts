import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../platform/config.ts';
import { withTimeLimit } from '../platform/time-limits.ts';
import { codeOf } from '../platform/errors.ts';

/** How long the API may take to answer on this machine. */
const answerMilliseconds = 2_000;

const recordSchema = z.object({
  pid: z.number().int().positive(),
  url: z.url(),
  startedAt: z.iso.datetime(),
});

type ApiRecord = z.output<typeof recordSchema>;

/** Returns the URL that reaches, on this machine, a server which listens on a host and port. */
export function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Records in the data directory where this API process answers, for commands in other terminals. Each process has a
 * file of its own, so that one that ends takes nothing from the others.
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
 * Finds the API that runs on the data directory; the one that started last where there are several.
 *
 * @returns its URL; null where none runs. Records of processes that were killed do not count: the process has to be
 * alive, and a Lectern has to answer at the URL.
 */
export async function findRunningApi({ dataDir }: Pick<Config, 'dataDir'>): Promise<string | null> {
  const records = (await readRecords(recordFolder(dataDir)))
    .flatMap(({ record }) => (record !== null && isAlive(record.pid) ? [record] : []))
    .sort((a, b) => b.startedAt.localeCompare(a.startedAt));
  for (const { url } of records) if (await answers(url)) return url;
  return null;
}

function recordFolder(dataDir: string): string {
  return join(dataDir, 'api');
}

/** Reads all records; null stands for one that cannot be read, such as a half-written one. */
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
    // It belongs to another user.
    return codeOf(error) === 'EPERM';
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return await withTimeLimit({ timeoutMs: answerMilliseconds }, async (signal) => {
      const response = await fetch(`${url}/health/live`, { redirect: 'error', signal });
      await response.body?.cancel();
      return response.ok;
    });
  } catch {
    return false;
  }
}
