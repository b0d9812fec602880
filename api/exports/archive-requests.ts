import type { Config } from '../../shared/platform/config.ts';
import { doubledMs } from '../../shared/platform/backoff.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import { untilAborted } from '../../shared/platform/abort-listeners.ts';
import type { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { readFailure } from '../../shared/exports/failures.ts';
import { cancelledReason, fromFailedReason, incompleteKey } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Database } from '../../shared/models/database.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import type { IncompleteBuilds } from '../../shared/exports/incomplete-builds.ts';
import type { ArchiveStore, StoredArchive } from '../../shared/storage/store.ts';
import { retryAfterSeconds } from '../http/retry-after.ts';
import type { ExportChanges } from './export-changes.ts';

/**
 * The backoff before a request adds another job, because the archive of a completed one is not in the store: it was
 * evicted at once, or this host does not see it yet. NFS clients cache absences for a minute.
 */
const unseenBackoff = { firstMs: 2_000, maxMs: 30_000 };
const maxJobs = 6;
const unseenText =
  'a worker reports this archive as built, but the store does not have it: see "NFS" in docs/operate/store.md';

export interface ArchiveRequestDependencies {
  db: Database;
  archives: ArchiveStore;
  queue: ExportQueue;
  changes: ExportChanges;
  /** The requests of each organization that wait for exports: each holds a connection and polls Redis. */
  waits: ConcurrencyLimit;
  incomplete: Pick<IncompleteBuilds, 'isCurrent'>;
  config: Pick<Config, 'export'>;
  log: Logger;
}

/**
 * Returns the archive of a job: from the store, or once a worker has built it. Concurrent requests in all API processes
 * wait for one job. The store decides what is ready, and the queue what is waiting or running.
 *
 * @throws {LecternError} INVALID_CONTENT from the build; TOO_MANY_REQUESTS from `waits` or {@link enqueueExport}; INTERNAL_ERROR when the build failed, when Redis or the store does not respond, or when the
 * archive is not ready in time (its job continues).
 */
export async function requestArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  signal: AbortSignal,
): Promise<StoredArchive> {
  const archive = (await openArchive(deps, job)) ?? (await waitForArchive(deps, job, signal));
  // Nothing else closes the archive of a client that disconnected in the meantime.
  if (signal.aborted) await archive.close();
  signal.throwIfAborted();
  return archive;
}

/**
 * Returns the archive of a job from the store; otherwise ensures that a job waits or runs, and returns null.
 *
 * @throws {LecternError} as {@link requestArchive}.
 */
export async function requestArchiveAsync(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
): Promise<StoredArchive | null> {
  const archive = await openArchive(deps, job);
  if (archive === null) await joinJob(deps, job);
  return archive;
}

/**
 * Opens the current archive of a job: the complete one, or an incomplete one that is not yet due for another build.
 */
export async function openArchive(
  { archives, incomplete, config }: Pick<ArchiveRequestDependencies, 'archives' | 'incomplete' | 'config'>,
  job: ExportJob,
): Promise<StoredArchive | null> {
  const complete = await archives.open(job.key);
  if (complete !== null) return complete;
  const archive = await archives.open(incompleteKey(job.key));
  if (archive === null) return null;
  if (await incomplete.isCurrent(job.key, config.export.degradedSeconds)) return archive;
  await archive.close();
  return null;
}

async function waitForArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  signal: AbortSignal,
): Promise<StoredArchive> {
  const { archives, queue, changes, waits, config, log } = deps;
  const end = await waits.begin(job.organizationId, signal);
  const deadline = Date.now() + config.export.waitSeconds * 1000;
  let change = changes.next(job.key);
  const wait = async () => {
    if (Date.now() >= deadline) throw await timeoutFailure(deps);
    await untilAborted(change, signal);
    change = changes.next(job.key);
    return openArchive(deps, job);
  };
  try {
    let jobId = await joinJob(deps, job);
    for (let jobs = 1; ;) {
      const archive = await wait();
      if (archive !== null) return archive;
      const state = await readJob(queue, jobId);
      if (state === 'open') continue;
      if (state === 'completed') {
        // The own job's archive, even if it lacks files and has expired already.
        let own = (await archives.open(job.key)) ?? (await archives.open(incompleteKey(job.key)));
        const nextJobAt = Date.now() + doubledMs(unseenBackoff, jobs - 1);
        while (own === null && Date.now() < nextJobAt) own = await wait();
        if (own !== null) return own;
        log.warn({ job: jobId }, unseenText);
      }
      if (jobs < maxJobs) jobId = await joinJob(deps, job);
      jobs += 1;
    }
  } finally {
    end();
  }
}

/**
 * Ensures that a job for the archive waits or runs, and returns its id.
 *
 * @throws {LecternError} the failure of the last job, if it is recent; INTERNAL_ERROR when Redis does not respond.
 */
async function joinJob({ queue }: ArchiveRequestDependencies, job: ExportJob): Promise<string> {
  try {
    const failure = await readFailure(queue, job.key);
    if (failure?.isRecent === true) throw buildFailure(failure.reason);
    return await enqueueExport(queue, job);
  } catch (error) {
    if (error instanceof LecternError) throw error;
    const message = `The export queue does not respond: ${messageOf(error)}`;
    throw new LecternError('INTERNAL_ERROR', message, { cause: error, retryAfterSeconds });
  }
}

/**
 * Returns whether a job is open or has completed; `gone` if it was canceled or lost, so that a request has to add
 * another one. While Redis is down, a job counts as open, because its build may continue.
 *
 * @throws {LecternError} the failure of the build.
 */
async function readJob(queue: ExportQueue, jobId: string): Promise<'open' | 'completed' | 'gone'> {
  const state = await queue.getJobState(jobId).catch(() => 'active' as const);
  if (state === 'completed' || state === 'unknown') return state === 'unknown' ? 'gone' : state;
  if (state !== 'failed') return 'open';
  const reason = (await queue.getJob(jobId))?.failedReason;
  if (reason !== undefined && reason !== cancelledReason) throw buildFailure(reason);
  return 'gone';
}

async function timeoutFailure({ queue }: ArchiveRequestDependencies): Promise<LecternError> {
  const workers = await queue.countWorkers().catch(() => null);
  const publicMessage =
    'The archive is not ready in time: no worker is running. The export stays in the queue.';
  return new LecternError('INTERNAL_ERROR', 'The archive is not ready in time', {
    retryAfterSeconds,
    ...(workers === 0 && { publicMessage }),
  });
}

function buildFailure(reason: string): LecternError {
  const failure = fromFailedReason(reason);
  if (failure.code !== 'INTERNAL_ERROR') return failure;
  return new LecternError('INTERNAL_ERROR', failure.message, { cause: failure, retryAfterSeconds });
}
