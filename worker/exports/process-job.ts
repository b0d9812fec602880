import { DelayedError, UnrecoverableError } from 'bullmq';
import { LecternError } from '../../shared/platform/errors.ts';
import { closeExport, isPrebuild } from '../../shared/exports/enqueue.ts';
import { forgetFailure, readFailure, saveFailure } from '../../shared/exports/failures.ts';
import { cancelledReason, progressOf, toFailedReason } from '../../shared/exports/jobs.ts';
import type { ExportResult } from '../../shared/exports/jobs.ts';
import type { ExportQueue, QueuedExport } from '../../shared/exports/queues.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { BuildDependencies } from './build-archive.ts';
import { buildIfMissing } from './build-if-missing.ts';
import { JobOfOtherRelease } from './profiles/profile.ts';
import { reportFailed, reportProgress, reportReady, UnreportedExport } from './report-export.ts';
import type { BuildOutcome, WorkerMetrics } from './metrics.ts';

/** A job that has stopped this many workers fails. */
const maxStalls = 3;

/** The delay before a job whose event MongoDB could not store runs again. */
const unreportedDelayMs = 5_000;

/** The delay before a worker takes a job of another release again, and how long a job may wait for that release. */
const otherRelease = { delayMs: 2_000, maxMs: 3_600_000 };

/** Why a worker stops a build: BullMQ passes it to the signal of the job. */
export const stopReasons = { cancelled: 'cancelled', lockLost: 'lock lost', shutdown: 'shutdown' } as const;

export interface ProcessDependencies {
  build: BuildDependencies;
  queue: ExportQueue;
  /** The organizations of the running builds, by job id. */
  running: Map<string, string>;
  metrics: WorkerMetrics;
  log: Logger;
}

/** A job that this worker has taken. */
interface TakenJob extends ProcessDependencies {
  job: QueuedExport;
  id: string;
  /** Identifies this worker's lock on the job. */
  token: string;
  signal: AbortSignal;
  startedAt: number;
}

/**
 * Runs a job that this worker has taken, until it ends or goes back to the queue.
 *
 * @param options.signal aborted with one of the {@link stopReasons}.
 * @throws {DelayedError} for a job that is in the queue again, or that another worker has; UnrecoverableError for a
 * final failure; any other error for a build that BullMQ retries.
 */
export async function processJob(
  deps: ProcessDependencies,
  job: QueuedExport,
  options: { token: string; signal: AbortSignal },
): Promise<ExportResult> {
  const { id = '', data } = job;
  const log = deps.log.child({ job: id, lesson: data.slug, version: data.versionNumber });
  const taken = { ...deps, ...options, job, id, log, startedAt: Date.now() };
  deps.running.set(id, data.organizationId);
  try {
    return await build(taken);
  } catch (error) {
    throw options.signal.aborted
      ? await stop(taken)
      : await fail(taken, error).catch((failure: unknown) => postpone(taken, failure));
  } finally {
    deps.running.delete(id);
  }
}

async function build(taken: TakenJob): Promise<ExportResult> {
  const { queue, log, job, signal, startedAt } = taken;
  if (job.stalledCounter >= maxStalls) throw poisonJobError();
  // A request may have added this job while the last one failed.
  const failure = await readFailure(queue, job.data.key);
  if (failure?.isRecent === true) throw new RecentFailure(failure.reason);
  if (failure !== null) await forgetFailure(queue, job.data.key);
  if (isFirstBuild(job)) taken.metrics.waited(Math.max(0, startedAt - job.timestamp) / 1000);
  const result = await buildIfMissing(taken.build, job.data, { signal, onProgress: reportProgress(job) });
  const existed = result.files === 0;
  if (!existed) count(taken, result.failures === 0 ? 'complete' : 'incomplete', result.size);
  const milliseconds = Date.now() - startedAt;
  log.info({ ...result, milliseconds }, existed ? 'export existed already' : 'export built');
  // The job that built an archive reports it: this one, in an earlier start, or the one before.
  if (!existed || job.attemptsStarted > 1) await reportReady(taken.build.db, job, result);
  await closeExport(queue, job.data);
  return result;
}

/** Ends a job whose build was stopped, or leaves it to another worker. Returns the error that tells BullMQ which. */
async function stop(taken: TakenJob): Promise<Error> {
  const { queue, job, signal, log } = taken;
  if (signal.reason === stopReasons.shutdown) return giveBack(taken, 'the process shuts down');
  if (signal.reason === stopReasons.lockLost) {
    count(taken, 'lost');
    log.warn('export left to another worker: the lock was lost');
    return new DelayedError();
  }
  count(taken, 'cancelled');
  log.info('export canceled');
  await closeExport(queue, job.data);
  return new UnrecoverableError(cancelledReason);
}

/** Ends a job whose build has failed, unless it is retried. Returns the error that tells BullMQ which. */
async function fail(taken: TakenJob, error: unknown): Promise<Error> {
  const { queue, job, startedAt } = taken;
  if (error instanceof UnreportedExport) throw error;
  if (error instanceof JobOfOtherRelease && startedAt - job.timestamp < otherRelease.maxMs) {
    return giveBack(taken, error.message, otherRelease.delayMs);
  }
  const reason = error instanceof RecentFailure ? error.message : toFailedReason(error);
  if (!(error instanceof RecentFailure)) {
    count(taken, 'failed');
    taken.metrics.failed(error);
    const attempt = job.attemptsMade + 1;
    taken.log.error({ err: error, attempt, milliseconds: Date.now() - startedAt }, 'export failed');
    if (!isPermanent(taken, error) && attempt < (job.opts.attempts ?? 1)) return new Error(reason);
    // In this order: after a crash in between, the next start fails again, and reports the same event.
    await reportFailed(taken.build.db, job, error);
    await saveFailure(queue, job.data.key, { reason, progress: progressOf(job) });
  }
  await closeExport(queue, job.data);
  return new UnrecoverableError(reason);
}

/** Runs a job again later if MongoDB could not store its event. @throws any other error. */
function postpone(taken: TakenJob, failure: unknown): Promise<Error> {
  if (!(failure instanceof UnreportedExport)) throw failure;
  return giveBack(taken, failure.message, unreportedDelayMs);
}

/** Returns a job to the queue. */
async function giveBack(taken: TakenJob, detail: string, delayMs = 0): Promise<Error> {
  count(taken, 'given_back');
  await taken.job.moveToDelayed(Date.now() + delayMs, taken.token);
  taken.log.info({ detail }, 'export returned to the queue');
  return new DelayedError();
}

function count({ metrics, startedAt }: TakenJob, outcome: BuildOutcome, bytes = 0): void {
  metrics.built(outcome, (Date.now() - startedAt) / 1000, bytes);
}

/** Returns whether no build of a job has begun yet. A pre-build has not waited since a request. */
function isFirstBuild(job: QueuedExport): boolean {
  return job.attemptsMade === 0 && job.stalledCounter === 0 && !isPrebuild(job.opts);
}

/** Faults of the content are permanent. Any other error may be temporary. */
function isPermanent({ job }: TakenJob, error: unknown): boolean {
  const isFault = error instanceof JobOfOtherRelease || (error instanceof LecternError && error.expose);
  return isFault || job.stalledCounter >= maxStalls;
}

/** Fails a job with the failure of the one before it. */
class RecentFailure extends Error {}

function poisonJobError(): LecternError {
  return new LecternError(
    'INTERNAL_ERROR',
    `Given up after ${maxStalls} starts: each time, the worker ended or lost the job before the archive was built`,
  );
}
