import { withTimeLimit } from '../../shared/platform/time-limits.ts';
import { codeOf, LecternError, messageOf } from '../../shared/platform/errors.ts';
import { exportJobSchema } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { findExportRecord } from '../../shared/models/export-record.ts';
import { makeRoom } from '../maintenance/evict.ts';
import { buildArchive } from './build-archive.ts';
import type { BuildDependencies } from './build-archive.ts';

interface RunOptions {
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}

/** The errors of a full disk and of an exceeded quota. */
const diskFullCodes: unknown[] = ['ENOSPC', 'EDQUOT'];

/**
 * Builds an archive, unless it exists already: a job may run twice, because a worker that lost its lock may continue.
 *
 * @param data the job's payload from Redis.
 * @throws as {@link buildArchive}; the error of a full store, after making room for the retry.
 */
export async function buildIfMissing(
  deps: BuildDependencies,
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
    if (!diskFullCodes.includes(codeOf(error))) throw error;
    // The store holds each file twice: as download, and in the archive.
    await evictForRetry(deps, 2 * bytes);
    throw new LecternError('INTERNAL_ERROR', `The store is full: ${messageOf(error)}`, { cause: error });
  }
}

/** Returns null for an archive without a record, as after a restored backup: it is built again, with a record. */
async function findBuilt({ db, store }: BuildDependencies, { key }: ExportJob): Promise<ExportResult | null> {
  const built = await store.archives.open(key);
  if (built === null) return null;
  await built.close();
  const record = await findExportRecord(db, key);
  return record === null ? null : { size: built.size, files: 0, failures: 0 };
}

/** Ignores failures: the retry may still find room. */
async function evictForRetry({ store, config, observer }: BuildDependencies, bytes: number): Promise<void> {
  // A bucket never runs full, but the disk for temporary files may.
  const { freeBytes } = await store.check().catch(() => ({ freeBytes: 0 }));
  if (freeBytes === null) return;
  const { buildSeconds } = config.export;
  const evicted = await makeRoom(store, { bytes, buildSeconds }).catch(() => null);
  if (evicted !== null) observer?.evicted(evicted);
}
