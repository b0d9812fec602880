import { exportJobSchema } from '../../shared/jobs.ts';
import type { ExportProgress, ExportResult } from '../../shared/jobs.ts';
import { buildArchive } from '../export/build-archive.ts';
import type { ExportDependencies } from '../export/build-archive.ts';

/**
 * Builds one archive, unless it is there already: a job may run twice, when a worker lost its lock but not its life.
 *
 * @param data the job's payload, as it came out of Redis.
 */
export async function runExport(
  deps: ExportDependencies,
  data: unknown,
  options: { signal: AbortSignal; onProgress: (progress: ExportProgress) => void },
): Promise<ExportResult> {
  const job = exportJobSchema.parse(data);
  const built = await deps.store.archives.open(job.key);
  if (built !== null) {
    await built.close();
    return { size: built.size, files: 0, failures: 0 };
  }
  const deadline = AbortSignal.timeout(deps.config.export.buildSeconds * 1000);
  return buildArchive(deps, job, { ...options, signal: AbortSignal.any([options.signal, deadline]) });
}
