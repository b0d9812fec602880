import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../shared/platform/config.ts';
import { embeddedServersRun } from '../shared/embedded/client.ts';
import type { Servers } from '../shared/embedded/servers.ts';

/** Releases the servers, and removes a benchmark's folder once they no longer write to it. */
export async function removeBench(folder: string, config: Config, servers: Servers): Promise<void> {
  await servers.release();
  while (await embeddedServersRun(config.dataDir)) await sleep(100);
  await rm(folder, { recursive: true, force: true });
}
