import { randomUUID } from 'node:crypto';
import type { Config } from '../../shared/config.ts';
import { LecternError, messageOf } from '../../shared/errors.ts';
import { askForExport, reviveExport, stopWaiting } from '../../shared/exports/ask.ts';
import { isCancelled } from '../../shared/exports/cancel.ts';
import { fromFailedReason, incompleteKey } from '../../shared/jobs.ts';
import type { ExportJob } from '../../shared/jobs.ts';
import type { Logger } from '../../shared/log.ts';
import type { Database } from '../../shared/models/database.ts';
import { countWorkers } from '../../shared/operations/workers.ts';
import type { ExportQueue } from '../../shared/queues.ts';
import type { ArchiveStore, StoredArchive } from '../../shared/storage/store.ts';
import { retryAfterSeconds } from '../retry-after.ts';
import type { JobWaiter, JobWaiters } from './job-waiters.ts';
import type { OpenWaits } from './open-waits.ts';

/** A failed job answers for itself this long; whoever asks later has it tried anew. */
const coolOffMilliseconds = 10_000;

/** How often a waiting request looks by itself, in case an event was missed. */
const lookMilliseconds = 1_500;

/** How long Redis may be away before a request that waits gives up: it may be restarting, and the build goes on. */
const redisPatienceMilliseconds = 30_000;

export interface ArchiveRequestDependencies {
  db: Database;
  archives: ArchiveStore;
  queue: ExportQueue;
  waiters: JobWaiters;
  openWaits: OpenWaits;
  config: Pick<Config, 'export'>;
  log: Logger;
}

/**
 * The archive that a job builds: the one in the store, else the one that a worker builds now. All who ask at once, in
 * every API process, wait for one job. The store says what is ready, the queue what is waiting or failed; nothing else
 * does, so nothing can contradict them.
 *
 * @throws {LecternError} INVALID_CONTENT from the build; TOO_MANY_REQUESTS from {@link OpenWaits}; INTERNAL_ERROR when
 * the build failed, when Redis or the store do not answer, or when the archive is not ready in time (its job goes on).
 */
export async function requestArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  signal: AbortSignal,
): Promise<StoredArchive> {
  const asked = Date.now();
  const archive = (await openArchive(deps, job, asked)) ?? (await waitAsClient(deps, job, { asked, signal }));
  // A client that went away while it was opened closes nothing any more.
  if (signal.aborted) await archive.close();
  signal.throwIfAborted();
  return archive;
}

/**
 * As {@link requestArchive}, for who comes back later: null where the archive is not there yet, and its job waits or
 * runs now.
 */
export async function beginArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
): Promise<StoredArchive | null> {
  const asked = Date.now();
  const archive = await openArchive(deps, job, asked);
  if (archive !== null) return archive;
  try {
    return await queueJob(deps, job, { asked, client: null });
  } catch (error) {
    throw queueFailure(error);
  }
}

async function waitAsClient(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  { asked, signal }: { asked: number; signal: AbortSignal },
): Promise<StoredArchive> {
  const endWait = deps.openWaits.begin(job.organizationId);
  const waiter = deps.waiters.listen(job.key);
  const client = randomUUID();
  try {
    return await waitForArchive(deps, job, { waiter, client, asked, signal });
  } finally {
    waiter.close();
    endWait();
    // Where this is not heard, the client is forgotten in time.
    stopWaiting(deps.queue, job.key, client).catch(() => undefined);
  }
}

async function waitForArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  request: { waiter: JobWaiter; client: string; asked: number; signal: AbortSignal },
): Promise<StoredArchive> {
  const { waiter, client, asked, signal } = request;
  const deadline = asked + deps.config.export.waitSeconds * 1000;
  let queued = false;
  let redisFailedSince: number | null = null;
  for (;;) {
    const archive = await openArchive(deps, job, asked);
    if (archive !== null) return archive;
    try {
      const finished = await queueJob(deps, job, { asked, client });
      if (finished !== null) return finished;
      queued = true;
      redisFailedSince = null;
    } catch (error) {
      if (error instanceof LecternError) throw error;
      redisFailedSince ??= Date.now();
      // A request whose job is under way waits out a restart of Redis; one that cannot queue its job is told so.
      if (!queued || Date.now() - redisFailedSince >= redisPatienceMilliseconds) throw queueFailure(error);
    }
    const left = deadline - Date.now();
    if (left <= 0) {
      throw await lateFailure(deps);
    }
    await waiter.next(Math.min(lookMilliseconds, left), signal);
  }
}

/**
 * The archive of a job as a request may have it now: the complete one, or one that lacks files and is young enough.
 *
 * @param asked when the request came, in milliseconds of Unix time.
 */
export async function openArchive(
  { archives, config }: Pick<ArchiveRequestDependencies, 'archives' | 'config'>,
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
 * Sees to it that the job waits or runs; gives the archive where the job ended just now.
 *
 * @param request.client who waits for it, for as long as it does; null for who comes back some time.
 */
async function queueJob(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  { asked, client }: { asked: number; client: string | null },
): Promise<StoredArchive | null> {
  await askForExport(deps.queue, job, client);
  return reviveJob(deps, job, asked);
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
  } else if (!isCancelled(ended.failedReason)) {
    const finishedOn = ended.finishedOn ?? 0;
    if (finishedOn >= asked || Date.now() - finishedOn < coolOffMilliseconds)
      throw failureOf(ended.failedReason);
  }
  await reviveExport(queue, ended, state);
  return null;
}

async function lateFailure({ queue }: ArchiveRequestDependencies): Promise<LecternError> {
  const workers = await countWorkers(queue).catch(() => null);
  const publicMessage =
    'The archive is not ready in time: no worker is running. The export stays in the queue.';
  return new LecternError('INTERNAL_ERROR', 'The archive is not ready in time', {
    retryAfterSeconds,
    ...(workers === 0 && { publicMessage }),
  });
}

function failureOf(reason: string): LecternError {
  const failure = fromFailedReason(reason);
  if (failure.code !== 'INTERNAL_ERROR') return failure;
  return new LecternError('INTERNAL_ERROR', failure.message, { cause: failure, retryAfterSeconds });
}

function queueFailure(error: unknown): LecternError {
  if (error instanceof LecternError) return error;
  return new LecternError('INTERNAL_ERROR', `The export queue does not answer: ${messageOf(error)}`, {
    cause: error,
    retryAfterSeconds,
  });
}
