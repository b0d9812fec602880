import type { Config } from '../../shared/config.ts';
import { LecternError, messageOf } from '../../shared/errors.ts';
import { exportJobOf, fromFailedReason, incompleteKey } from '../../shared/jobs.ts';
import type { ExportJob, ExportProfile } from '../../shared/jobs.ts';
import type { Logger } from '../../shared/log.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { ExportQueue } from '../../shared/queues.ts';
import type { ArchiveStore, StoredArchive } from '../../shared/storage/store.ts';
import { retryAfterSeconds } from '../retry-after.ts';
import type { JobWaiter, JobWaiters } from './job-waiters.ts';

/** A failed job answers for itself this long; whoever asks later has it tried anew. */
const coolOffMilliseconds = 10_000;

/** How often a waiting request looks by itself, in case an event was missed. */
const lookMilliseconds = 1_500;

/** How long Redis may be away before a request that waits gives up: it may be restarting, and the build goes on. */
const redisPatienceMilliseconds = 30_000;

export interface ArchiveRequestDependencies {
  archives: ArchiveStore;
  queue: ExportQueue;
  waiters: JobWaiters;
  config: Pick<Config, 'export'>;
  log: Logger;
}

/**
 * The archive of a published version in one profile: the one in the store, else the one that a worker builds now. All who ask at
 * once, in every API process, wait for one job. The store says what is ready, the queue what is waiting or failed;
 * nothing else does, so nothing can contradict them.
 *
 * @throws {LecternError} INVALID_CONTENT from the build; INTERNAL_ERROR when the build failed, when Redis or the
 * store do not answer, or when the archive is not ready in time (its job goes on).
 */
export async function requestArchive(
  deps: ArchiveRequestDependencies,
  version: LessonVersion,
  { profile, signal }: { profile: ExportProfile; signal: AbortSignal },
): Promise<StoredArchive> {
  const job = exportJobOf(version, profile);
  const waiter = deps.waiters.listen(job.key);
  try {
    const archive = await waitForArchive(deps, job, { waiter, signal });
    // A client that went away while it was opened closes nothing any more.
    if (signal.aborted) await archive.close();
    signal.throwIfAborted();
    return archive;
  } finally {
    waiter.close();
  }
}

async function waitForArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  { waiter, signal }: { waiter: JobWaiter; signal: AbortSignal },
): Promise<StoredArchive> {
  const asked = Date.now();
  const deadline = asked + deps.config.export.waitSeconds * 1000;
  let queued = false;
  let redisFailedSince: number | null = null;
  for (;;) {
    const archive = await openArchive(deps, job, asked);
    if (archive !== null) return archive;
    try {
      await deps.queue.add('export', job, { jobId: job.key });
      queued = true;
      const finished = await reviveJob(deps, job, asked);
      if (finished !== null) return finished;
      redisFailedSince = null;
    } catch (error) {
      if (error instanceof LecternError) throw error;
      redisFailedSince ??= Date.now();
      // A request whose job is under way waits out a restart of Redis; one that cannot queue its job is told so.
      if (!queued || Date.now() - redisFailedSince >= redisPatienceMilliseconds) {
        throw new LecternError('INTERNAL_ERROR', `The export queue does not answer: ${messageOf(error)}`, {
          cause: error,
          retryAfterSeconds,
        });
      }
    }
    const left = deadline - Date.now();
    if (left <= 0) {
      throw new LecternError('INTERNAL_ERROR', 'The archive is not ready in time', { retryAfterSeconds });
    }
    await waiter.next(Math.min(lookMilliseconds, left), signal);
  }
}

async function openArchive(
  { archives, config }: ArchiveRequestDependencies,
  job: ExportJob,
  asked: number,
): Promise<StoredArchive | null> {
  const complete = await archives.open(job.key);
  if (complete !== null) return complete;
  const incomplete = await archives.open(incompleteKey(job.key));
  if (incomplete === null) return null;
  // One that was built for this very request is served, however short its life is set.
  const builtAt = incomplete.storedAt.getTime();
  if (builtAt >= asked || Date.now() - builtAt < config.export.degradedSeconds * 1000) return incomplete;
  await incomplete.close();
  return null;
}

/**
 * Sees to it that the job, which was added before, waits or runs; gives the archive where the job ended just now.
 *
 * A finished job is kept under its id for operators to see, and swallows an add; it is moved back to waiting
 * instead, which succeeds for one of all who try and does nothing for the rest.
 */
async function reviveJob(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  asked: number,
): Promise<StoredArchive | null> {
  const { queue } = deps;
  const state = await queue.getJobState(job.key);
  if (state !== 'failed' && state !== 'completed') return null;
  const ended = await queue.getJob(job.key);
  if (ended === undefined) return null;
  if (state === 'completed') {
    // It may have ended after the store was looked at.
    const archive = await openArchive(deps, job, asked);
    if (archive !== null) return archive;
  } else {
    const finishedOn = ended.finishedOn ?? 0;
    if (finishedOn >= asked || Date.now() - finishedOn < coolOffMilliseconds)
      throw failureOf(ended.failedReason);
  }
  await ended.retry(state, { resetAttemptsMade: true, resetAttemptsStarted: true }).catch(() => undefined);
  return null;
}

function failureOf(reason: string): LecternError {
  const failure = fromFailedReason(reason);
  if (failure.code !== 'INTERNAL_ERROR') return failure;
  return new LecternError('INTERNAL_ERROR', failure.message, { cause: failure, retryAfterSeconds });
}
