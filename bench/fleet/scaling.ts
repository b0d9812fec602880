import { startProcesses } from '../../cli/installation/processes.ts';
import type { BenchInstallation } from '../installation.ts';

/** Concurrent requests per worker process: enough that start and end hardly count. */
const exportsPerWorker = 24;

interface Lessons {
  packageFolder: string;
  originUrl: string;
}

/**
 * Measures exports per minute by number of worker processes: concurrent cold exports in proportion to the workers, of
 * lessons without common files.
 */
export async function measureScaling(
  installation: BenchInstallation,
  lessons: Lessons,
  workerCounts: readonly number[],
): Promise<Map<number, number>> {
  const rates = new Map<number, number>();
  for (const workers of workerCounts) {
    rates.set(workers, await exportsPerMinute(installation, lessons, workers));
  }
  return rates;
}

async function exportsPerMinute(
  { config, servers, settings, authorization, publish }: BenchInstallation,
  { packageFolder, originUrl }: Lessons,
  workers: number,
): Promise<number> {
  const paths: string[] = [];
  for (let number = 0; number < workers * exportsPerWorker; number += 1) {
    const version = await publish(packageFolder, `${originUrl}/${workers}/${number}`);
    paths.push(`/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`);
  }
  const processes = await startProcesses(config, servers, { workers, settings });
  try {
    const started = performance.now();
    await Promise.all(
      paths.map(async (path) => {
        const response = await fetch(processes.url + path, { headers: { authorization } });
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        await response.arrayBuffer();
      }),
    );
    return (paths.length / (performance.now() - started)) * 60_000;
  } finally {
    await processes.stop();
  }
}
