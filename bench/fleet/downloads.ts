import { execFile } from 'node:child_process';
import { link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProcesses } from '../../cli/installation/processes.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { BenchInstallation } from '../installation.ts';
import { medianTimes } from '../rounds.ts';
import { startNginx } from './nginx.ts';

/** Downloads per connection. */
const repeats = 4;

export const nginxName = "Debian's nginx, the same file (baseline)";

/**
 * Measures how long sending a stored archive takes with several numbers of connections, in turns with nginx, which
 * sends the same file. Null if nginx is not installed.
 *
 * @returns milliseconds by number of connections and name.
 */
export async function measureDownloads(
  { folder, config, servers, settings, authorization, publish }: BenchInstallation,
  { packageFolder, connections, rounds }: { packageFolder: string; connections: number[]; rounds: number },
): Promise<Map<number, Map<string, number>> | null> {
  const version = await publish(packageFolder);
  const processes = await startProcesses(config, servers, { workers: 1, settings });
  const url = `${processes.address}/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
  await curl(url, authorization, 1);
  const { key } = exportJobOf(version);
  const stored = join(config.storeDir, 'v1', 'archives', key.slice(1, 3), key);
  const [name = ''] = await readdir(stored);
  const served = join(folder, 'served');
  await mkdir(served);
  await link(join(stored, name), join(served, 'archive.zip'));
  const nginx = await startNginx(folder, served);
  try {
    if (nginx === null) return null;
    const times = new Map<number, Map<string, number>>();
    for (const count of connections) {
      const contenders = [
        { name: nginxName, run: () => curl(`${nginx.url}/archive.zip`, authorization, count) },
        { name: 'Lectern, one process', run: () => curl(url, authorization, count) },
      ];
      const prepare = () => Promise.resolve();
      times.set(
        count,
        await medianTimes(
          contenders.map((contender) => ({ ...contender, prepare })),
          rounds,
        ),
      );
    }
    return times;
  } finally {
    await nginx?.stop();
    await processes.stop();
  }
}

/** Downloads a URL `repeats` times on each connection, and discards the bytes. */
async function curl(url: string, authorization: string, connections: number): Promise<void> {
  const targets = Array.from({ length: repeats * connections }, () => ['--output', '/dev/null', url]).flat();
  const parallel = ['--parallel', '--parallel-immediate', '--parallel-max', String(connections)];
  const headers = ['--silent', '--fail', '--header', `Authorization: ${authorization}`];
  await promisify(execFile)('curl', [...headers, ...(connections > 1 ? parallel : []), ...targets]);
}
