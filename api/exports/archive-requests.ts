import { randomUUID } from 'node:crypto';
import type { Config } from '../../shared/platform/config.ts';
import { doubledMs } from '../../shared/platform/backoff.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import { enqueueExport, rerunEndedExport, removeWaiter } from '../../shared/exports/enqueue.ts';
import { isCancelled } from '../../shared/exports/cancel.ts';
import { readLastEnd } from '../../shared/exports/job-lifecycle.ts';
import { fromFailedReason, incompleteKey } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Database } from '../../shared/models/database.ts';
import { countWorkers } from '../../shared/operations/workers.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import { incompleteWaitMs } from '../../shared/coordination/incomplete-builds.ts';
import type { IncompleteBuilds } from '../../shared/coordination/incomplete-builds.ts';
import type { ArchiveStore, StoredArchive } from '../../shared/storage/store.ts';
import { retryAfterSeconds } from '../http/retry-after.ts';
import type { JobSubscription, JobSubscriptions } from './job-subscriptions.ts';
import type { WaitLimiter } from '../http/wait-limiter.ts';

/** How long requests get a job's failure; a later request retries the job. */
const failureBackoffMs = 10_000;

/** How often a waiting request polls, in case it missed an event. */
const pollIntervalMs = 1_500;

/** How long a waiting request tolerates an outage of Redis; Redis may restart while the build continues. */
const redisTimeoutMs = 30_000;

/**
 * The backoff before a request reruns a job whose archive a worker has built, but which the store does not show yet.
 * NFS clients cache absences for a minute.
 */
const unseenBackoff = { firstMs: 2_000, maxMs: 30_000 };

/** The maximum number of reruns by a request, which then only waits. */
const maxReruns = 5;

export interface ArchiveRequestDependencies {
  db: Database;
  archives: ArchiveStore;
  queue: ExportQueue;
  subscriptions: JobSubscriptions;
  waitLimiter: WaitLimiter;
  incomplete: IncompleteBuilds;
  config: Pick<Config, 'export'>;
  log: Logger;
}

/**
 * Returns the archive of a job: from the store, or once a worker has built it. Concurrent requests in all API processes
 * wait for one job. The store decides what is ready, and the queue what is waiting or failed; no other record could
 * contradict them.
 *
 * @throws {LecternError} INVALID_CONTENT from the build; TOO_MANY_REQUESTS from {@link WaitLimiter}; INTERNAL_ERROR
 * when the build failed, when Redis or the store does not respond, or when the archive is not ready in time (its job
 * continues).
 */
export async function requestArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  signal: AbortSignal,
): Promise<StoredArchive> {
  const archive = (await openArchive(deps, job)) ?? (await waitAsClient(deps, job, signal));
  // Nothing else closes the archive of a client that disconnected in the meantime.
  if (signal.aborted) await archive.close();
  signal.throwIfAborted();
  return archive;
}

/**
 * Returns the archive of a job from the store; otherwise ensures that its job waits or runs, and returns null.
 *
 * @throws {LecternError} as {@link requestArchive}.
 */
export async function requestArchiveAsync(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
): Promise<StoredArchive | null> {
  const archive = await openArchive(deps, job);
  if (archive !== null) return archive;
  try {
    return await ensureQueued(deps, job, new ArchiveRequest(null));
  } catch (error) {
    throw queueFailure(error);
  }
}

async function waitAsClient(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  signal: AbortSignal,
): Promise<StoredArchive> {
  const release = deps.waitLimiter.acquire(job.organizationId);
  const subscription = deps.subscriptions.toEnd(job.key);
  const waiter = randomUUID();
  try {
    return await waitForArchive(deps, job, { subscription, waiter, signal });
  } finally {
    subscription.close();
    release();
    // If this fails, the entry of the waiter expires by itself.
    removeWaiter(deps.queue, job.key, waiter).catch(() => undefined);
  }
}

async function waitForArchive(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  { subscription, waiter, signal }: { subscription: JobSubscription; waiter: string; signal: AbortSignal },
): Promise<StoredArchive> {
  const deadline = Date.now() + deps.config.export.waitSeconds * 1000;
  const request = new ArchiveRequest(waiter);
  let queued = false;
  let redisFailedSince: number | null = null;
  for (;;) {
    const archive = await openArchive(deps, job);
    if (archive !== null) return archive;
    try {
      const finished = await ensureQueued(deps, job, request);
      if (finished !== null) return finished;
      queued = true;
      redisFailedSince = null;
    } catch (error) {
      if (error instanceof LecternError) throw error;
      redisFailedSince ??= Date.now();
      // A request whose job is in the queue waits for Redis to restart; one that cannot queue its job fails at once.
      if (!queued || Date.now() - redisFailedSince >= redisTimeoutMs) throw queueFailure(error);
    }
    const remainingMs = deadline - Date.now();
    if (remainingMs <= 0) throw await timeoutFailure(deps);
    await subscription.next(Math.min(pollIntervalMs, remainingMs), signal);
  }
}

/** The state of one request for an archive. */
class ArchiveRequest {
  /** The request's id while it waits; null for a request that does not wait. */
  readonly waiter: string | null;
  /** When it first requested a build, by the clock of Redis. */
  since: number | null = null;
  /** The number of times it has rerun an ended job. */
  reruns = 0;

  constructor(waiter: string | null) {
    this.waiter = waiter;
  }
}

/**
 * Opens the current archive of a job: the complete one, or an incomplete one that is not yet due for another build.
 * While Redis is down nothing can be built, so an incomplete archive of any age is returned.
 */
export async function openArchive(
  { archives, incomplete, config }: Pick<ArchiveRequestDependencies, 'archives' | 'incomplete' | 'config'>,
  job: ExportJob,
): Promise<StoredArchive | null> {
  const complete = await archives.open(job.key);
  if (complete !== null) return complete;
  const archive = await archives.open(incompleteKey(job.key));
  if (archive === null) return null;
  const found = await incomplete.find([job.key]);
  if (found === undefined) return archive;
  const build = found[0] ?? null;
  if (build !== null && build.ageMs < incompleteWaitMs(build.builds, config.export.degradedSeconds))
    return archive;
  await archive.close();
  return null;
}

/** Ensures that the job waits or runs; returns the archive if the job has just ended. */
async function ensureQueued(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  request: ArchiveRequest,
): Promise<StoredArchive | null> {
  request.since ??= (await readLastEnd(deps.queue, job.key)).now;
  await enqueueExport(deps.queue, job, request.waiter);
  return rerunIfEnded(deps, job, { request, since: request.since });
}

/**
 * Reruns a job that has ended; returns the archive if the job has just ended.
 *
 * A finished job is kept under its id for operators, so BullMQ ignores another job with this id. The job is therefore
 * moved back to waiting, which succeeds for exactly one of several concurrent requests.
 */
async function rerunIfEnded(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  { request, since }: { request: ArchiveRequest; since: number },
): Promise<StoredArchive | null> {
  const { queue } = deps;
  const state = await queue.getJobState(job.key);
  if (state !== 'failed' && state !== 'completed') return null;
  const ended = await queue.getJob(job.key);
  if (ended === undefined) return null;
  const { now, endedAt } = await readLastEnd(queue, job.key);
  if (state === 'completed') {
    // It may have ended after the store lookup. Workers of earlier releases record no end: then a build that
    // this request has started counts as built for it.
    const forThis = endedAt === null ? request.reruns > 0 : endedAt >= since;
    const built = await openBuilt(deps, job, { forThis });
    if (built.archive !== null) return built.archive;
    if (!built.isStored && endedAt !== null && !mayRerun(deps, job, request, now - endedAt)) return null;
  } else if (!isCancelled(ended.failedReason)) {
    if (endedAt !== null && (endedAt >= since || now - endedAt < failureBackoffMs))
      throw buildFailure(ended.failedReason);
  }
  request.reruns += 1;
  await rerunEndedExport(queue, ended, state);
  return null;
}

/** Opens the archive of an ended job. The request that it was built for gets it even if it has expired already. */
async function openBuilt(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  { forThis }: { forThis: boolean },
): Promise<{ archive: StoredArchive | null; isStored: boolean }> {
  const archive = await openArchive(deps, job);
  if (archive !== null) return { archive, isStored: true };
  const incomplete = await deps.archives.open(incompleteKey(job.key));
  if (incomplete === null || forThis) return { archive: incomplete, isStored: incomplete !== null };
  await incomplete.close();
  return { archive: null, isStored: true };
}

/** Returns whether a completed job may rerun because this host's store does not show its archive. */
function mayRerun(
  { log }: ArchiveRequestDependencies,
  job: ExportJob,
  request: ArchiveRequest,
  ageMs: number,
): boolean {
  if (request.reruns >= maxReruns || ageMs < doubledMs(unseenBackoff, request.reruns)) return false;
  log.warn(
    { job: job.key },
    'a worker reports this archive as built, but the store does not have it: see "NFS" in docs/operate/store.md',
  );
  return true;
}

async function timeoutFailure({ queue }: ArchiveRequestDependencies): Promise<LecternError> {
  const workers = await countWorkers(queue).catch(() => null);
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

function queueFailure(error: unknown): LecternError {
  if (error instanceof LecternError) return error;
  return new LecternError('INTERNAL_ERROR', `The export queue does not respond: ${messageOf(error)}`, {
    cause: error,
    retryAfterSeconds,
  });
}
