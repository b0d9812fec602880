import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { inject, onTestFinished } from 'vitest';
import type * as sources from '../../shared/embedded/client.ts';
import { embeddedServersRun } from '../../shared/embedded/client.ts';
import type { AcquireOptions, EmbeddedServers } from '../../shared/embedded/client.ts';
import { entryPoint } from '../../shared/platform/paths.ts';
import { waitFor } from '../support/wait-for.ts';
import { temporaryFolder } from '../support/folders.ts';

/** The compiled client, as in an installation: its server processes start twice as fast as from sources. */
const client = entryPoint('shared/embedded/client');
const { acquireEmbeddedServers } = (await import(client)) as typeof sources;

/** Creates a data directory for the test. */
export async function temporaryDataDir(): Promise<string> {
  const dataDir = await temporaryFolder();
  onTestFinished(() => noServersRun(dataDir), 60_000);
  return dataDir;
}

export async function noServersRun(dataDir: string): Promise<void> {
  await waitFor('the end of the servers', async () => !(await embeddedServersRun(dataDir)), 30_000);
}

/** MongoDB without Redis, which starts three times as fast as both. */
const mongodbOnly = { mongodb: true, redis: false };

/** Acquires servers of a data directory, MongoDB only by default, until the end of the test. */
export async function acquire(
  dataDir: string,
  options: Partial<AcquireOptions> = {},
): Promise<EmbeddedServers> {
  const report = () => undefined;
  const servers = await acquireEmbeddedServers({
    dataDir,
    cacheDir: inject('cacheDir'),
    report,
    needs: mongodbOnly,
    ...options,
  });
  onTestFinished(() => servers.release());
  return servers;
}

export interface Holder {
  readonly servers: Pick<EmbeddedServers, 'mongodbUri' | 'redisUrl' | 'processes'>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

/** Starts a process that holds the servers of a data directory until it is killed. */
export async function startHolder(dataDir: string): Promise<Holder> {
  const program = `
    const [client, dataDir, cacheDir] = process.argv.slice(1);
    const { acquireEmbeddedServers } = await import(client);
    const needs = ${JSON.stringify(mongodbOnly)};
    const servers = await acquireEmbeddedServers({ dataDir, cacheDir, report: () => undefined, needs });
    console.log(JSON.stringify(servers));
    // Holding the servers does not keep a process alive.
    setInterval(() => undefined, 60_000);
  `;
  const args = ['--input-type=module', '--eval', program, client, dataDir, inject('cacheDir')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.pipe(process.stderr);
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(20_000) })) as [string];
  return { servers: JSON.parse(line) as Holder['servers'], kill };
}

/** Returns whether a process is alive; a zombie is not. */
export function lives(pid: number | undefined): boolean {
  if (pid === undefined) throw new Error('There is no such process');
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}

/** Waits until the supervisor and its servers have exited. */
export async function allEnded({ processes }: Pick<EmbeddedServers, 'processes'>): Promise<void> {
  const { supervisor, mongodb, redis } = processes;
  const ended = () => ![supervisor, mongodb, redis].some((pid) => pid !== undefined && lives(pid));
  await waitFor(`the end of the processes ${supervisor}, ${mongodb} and ${redis}`, ended, 20_000);
}
