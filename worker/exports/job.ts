import { withTimeLimit } from '../../shared/platform/time-limits.ts';
import { codeOf, LecternError } from '../../shared/platform/errors.ts';
import { exportJobSchema } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { findExportRecord } from '../../shared/models/export-record.ts';
import { buildArchive } from './build-archive.ts';
import type { ExportDependencies } from './build-archive.ts';

interface RunOptions {
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}

/** The file system has no room, or its user may have no more of it. */
const fullCodes: unknown[] = ['ENOSPC', 'EDQUOT'];

/**
 * Builds one archive, unless it is there already: a job may run twice, when a worker lost its lock but not its life.
 *
 * @param data the job's payload, as it came out of Redis.
 * @throws as {@link buildArchive}; when the store is full, after room was made for the next try.
 */
export async function runExport(
  deps: ExportDependencies,
  data: unknown,
  options: RunOptions,
): Promise<ExportResult> {
  const job = exportJobSchema.parse(data);
  const built = await findBuilt(deps, job);
  if (built !== null) return built;
  const limit = { timeoutMs: deps.config.export.buildSeconds * 1000, signal: options.signal };
  let bytes = 0;
  const onProgress = (progress: ExportProgress) => {
    bytes = progress.bytes;
    options.onProgress(progress);
  };
  try {
    return await withTimeLimit(limit, (signal) => buildArchive(deps, job, { signal, onProgress }));
  } catch (error) {
    if (!fullCodes.includes(codeOf(error))) throw error;
    // Files are there twice: as they were downloaded, and in the archive.
    await makeRoom(deps, 2 * bytes);
    throw new LecternError('INTERNAL_ERROR', 'The store is full', { cause: error });
  }
}

/** An archive from before there were records of its files is built again: to the same bytes, and with a record. */
async function findBuilt(
  { db, store }: ExportDependencies,
  { key }: ExportJob,
): Promise<ExportResult | null> {
  const built = await store.archives.open(key);
  if (built === null) return null;
  await built.close();
  const record = await findExportRecord(db, key);
  return record === null ? null : { size: built.size, files: 0, failures: 0 };
}

/** Another try may find room also where this fails. */
async function makeRoom(deps: ExportDependencies, bytes: number): Promise<void> {
  // A bucket is not what is full: the space for temporary files is.
  const { freeBytes } = await deps.store.check().catch(() => ({ freeBytes: 0 }));
  if (freeBytes !== null) await deps.makeRoom?.(bytes).catch(() => undefined);
}
