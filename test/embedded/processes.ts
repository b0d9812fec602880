import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { inject, onTestFinished } from 'vitest';
import { acquireEmbeddedServers } from '../../shared/embedded/embedded-servers.ts';
import type { ServerUrls, Servers } from '../../shared/embedded/embedded-servers.ts';
import { waitFor } from '../support/wait-for.ts';

/** Acquires the servers of a data directory until the end of the test. */
export async function acquire(dataDir: string): Promise<Servers> {
  const servers = await acquireEmbeddedServers({ dataDir, cacheDir: inject('cacheDir') }, () => undefined);
  onTestFinished(() => servers.release());
  return servers;
}

export interface Holder {
  servers: ServerUrls;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>;
}

/** Starts a process that acquires the servers of a data directory and runs until it is killed. */
export async function startHolder(dataDir: string): Promise<Holder> {
  const program = `
    const [module, dataDir, cacheDir] = process.argv.slice(1);
    const { acquireEmbeddedServers } = await import(module);
    const { mongodbUri, redisUrl } = await acquireEmbeddedServers({ dataDir, cacheDir }, () => undefined);
    console.log(JSON.stringify({ mongodbUri, redisUrl }));
    setInterval(() => undefined, 60_000);
  `;
  const module = new URL('../../shared/embedded/embedded-servers.ts', import.meta.url).href;
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const args = ['--import', loader, '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, [...args, module, dataDir, inject('cacheDir')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(60_000) })) as [string];
  return { servers: JSON.parse(line) as ServerUrls, kill };
}

/** Returns whether a process is alive; a zombie is not. */
export function lives(pid: number): boolean {
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

/** Waits until the processes of both servers have exited. */
export async function serversEnded({ mongodbUri, redisUrl }: ServerUrls): Promise<void> {
  const ports = [mongodbUri, redisUrl].map((url) => new URL(url).port);
  const ofServers = new RegExp(String.raw`(mongod|redis|valkey).* (${ports.join('|')})\b`);
  await waitFor(`the end of ${mongodbUri} and ${redisUrl}`, async () => {
    const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'args=']);
    return !stdout.split('\n').some((command) => ofServers.test(command));
  });
}
