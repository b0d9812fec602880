import { randomUUID } from 'node:crypto';
import type { Config } from '../../shared/platform/config.ts';
import { doubledMs } from '../../shared/platform/backoff.ts';
import { LecternError, messageOf } from '../../shared/platform/errors.ts';
import { askForExport, reviveExport, stopWaiting } from '../../shared/exports/ask.ts';
import { isCancelled } from '../../shared/exports/cancel.ts';
import { readEnd } from '../../shared/exports/start.ts';
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
import type { JobWaiter, JobWaiters } from './job-subscriptions.ts';
import type { OpenWaits } from './wait-limiter.ts';

/** A failed job answers for itself this long; whoever asks later has it tried anew. */
const coolOffMilliseconds = 10_000;

/** How often a waiting request looks by itself, in case an event was missed. */
const lookMilliseconds = 1_500;

/** How long Redis may be away before a request that waits gives up: it may be restarting, and the build goes on. */
const redisPatienceMilliseconds = 30_000;

/**
 * How long a request waits for an archive that a worker has reported as built and that the store does not show here,
 * before it has the job run again. NFS clients cache absences for a minute.
 */
const unseenBackoff = { firstMs: 2_000, maxMs: 30_000 };

/** After so many runs of the job a request only waits on. */
const maxRevivals = 5;

export interface ArchiveRequestDependencies {
  db: Database;
  archives: ArchiveStore;
  queue: ExportQueue;
  waiters: JobWaiters;
  openWaits: OpenWaits;
  incomplete: IncompleteBuilds;
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
  const archive = (await openArchive(deps, job)) ?? (await waitAsClient(deps, job, signal));
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
  const archive = await openArchive(deps, job);
  if (archive !== null) return archive;
  try {
    return await queueJob(deps, job, new Asking(null));
  } catch (error) {
    throw queueFailure(error);
  }
}

async function waitAsClient(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  signal: AbortSignal,
): Promise<StoredArchive> {
  const endWait = deps.openWaits.begin(job.organizationId);
  const waiter = deps.waiters.listen(job.key);
  const client = randomUUID();
  try {
    return await waitForArchive(deps, job, { waiter, client, signal });
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
  { waiter, client, signal }: { waiter: JobWaiter; client: string; signal: AbortSignal },
): Promise<StoredArchive> {
  const deadline = Date.now() + deps.config.export.waitSeconds * 1000;
  const asking = new Asking(client);
  let queued = false;
  let redisFailedSince: number | null = null;
  for (;;) {
    const archive = await openArchive(deps, job);
    if (archive !== null) return archive;
    try {
      const finished = await queueJob(deps, job, asking);
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

/** One request for an archive, while it waits. */
class Asking {
  /** Its id, while it waits; null for one that comes back some time. */
  readonly client: string | null;
  /** When it first asked for a build, by the clock of Redis; null before that. */
  since: number | null = null;
  /** How often it had a job that had ended run again. */
  revivals = 0;

  constructor(client: string | null) {
    this.client = client;
  }
}

/**
 * Opens the archive of a job as a request may have it now: the complete one, or one that lacks files and need not be
 * built again yet. While Redis is away nothing can be built, so the age of the latter does not count.
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

/**
 * Sees to it that the job waits or runs; gives the archive where the job ended just now.
 */
async function queueJob(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  asking: Asking,
): Promise<StoredArchive | null> {
  asking.since ??= (await readEnd(deps.queue, job.key)).now;
  await askForExport(deps.queue, job, asking.client);
  return reviveJob(deps, job, { asking, since: asking.since });
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
  { asking, since }: { asking: Asking; since: number },
): Promise<StoredArchive | null> {
  const { queue } = deps;
  const state = await queue.getJobState(job.key);
  if (state !== 'failed' && state !== 'completed') return null;
  const ended = await queue.getJob(job.key);
  if (ended === undefined) return null;
  const { now, endedAt } = await readEnd(queue, job.key);
  if (state === 'completed') {
    // It may have ended after the store was looked at.
    // A worker of an earlier release notes no end: then a build that this request began is for it.
    const forThis = endedAt === null ? asking.revivals > 0 : endedAt >= since;
    const built = await findBuilt(deps, job, { forThis });
    if (built.archive !== null) return built.archive;
    if (!built.isThere && endedAt !== null && !mayRevive(deps, job, asking, now - endedAt)) return null;
  } else if (!isCancelled(ended.failedReason)) {
    if (endedAt !== null && (endedAt >= since || now - endedAt < coolOffMilliseconds))
      throw failureOf(ended.failedReason);
  }
  asking.revivals += 1;
  await reviveExport(queue, ended, state);
  return null;
}

/**
 * Opens what a job has built. An archive that lacks files is given to a request that it was built for, however short
 * its life is set.
 */
async function findBuilt(
  deps: ArchiveRequestDependencies,
  job: ExportJob,
  { forThis }: { forThis: boolean },
): Promise<{ archive: StoredArchive | null; isThere: boolean }> {
  const archive = await openArchive(deps, job);
  if (archive !== null) return { archive, isThere: true };
  const incomplete = await deps.archives.open(incompleteKey(job.key));
  if (incomplete === null || forThis) return { archive: incomplete, isThere: incomplete !== null };
  await incomplete.close();
  return { archive: null, isThere: true };
}

/** Whether a job that has built its archive may run again because the store does not show the archive here. */
function mayRevive(
  { log }: ArchiveRequestDependencies,
  job: ExportJob,
  asking: Asking,
  ageMs: number,
): boolean {
  const wait = doubledMs(unseenBackoff, asking.revivals);
  if (asking.revivals >= maxRevivals || ageMs < wait) return false;
  log.warn(
    { job: job.key },
    'a worker reports this archive as built, but the store does not have it: see "NFS" in docs/operate/store.md',
  );
  return true;
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
