import { startProcesses } from '../../cli/installation/processes.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import { ExportQueue } from '../../shared/exports/queues.ts';
import { connectRedis } from '../../shared/platform/redis.ts';
import type { BenchInstallation } from '../installation.ts';

export interface HandOver {
  /** Milliseconds, of all requests. */
  p50: number;
  p99: number;
}

/** Measures the time from a request to the start of its job, with an idle worker. */
export async function measureHandOver(
  { config, servers, settings, authorization, publish }: BenchInstallation,
  packageFolder: string,
  requests: number,
): Promise<HandOver> {
  const versions = [];
  for (let number = 0; number < requests; number += 1) versions.push(await publish(packageFolder));
  const redis = await connectRedis(servers.redisUrl);
  const queue = new ExportQueue(redis, config);
  const processes = await startProcesses(config, servers, { workers: 1, settings });
  try {
    const times: number[] = [];
    for (const version of versions) {
      const asked = Date.now();
      const path = `/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
      const response = await fetch(processes.url + path, { headers: { authorization } });
      await response.arrayBuffer();
      const { key } = exportJobOf(version);
      const job = (await queue.getCompleted()).find(({ data }) => data.key === key);
      if (job?.processedOn === undefined) throw new Error(`${path}: ${response.status}, and no job`);
      times.push(job.processedOn - asked);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? NaN;
    return { p50: at(0.5), p99: at(0.99) };
  } finally {
    await processes.stop();
    await queue.close();
    redis.disconnect();
  }
}
