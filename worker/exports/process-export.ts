import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import type { Job } from 'bullmq';
import { LecternError } from '../../shared/platform/errors.ts';
import { BuildCancelled, clearCancellation } from '../../shared/exports/cancel.ts';
import { recordHandOver } from '../../shared/exports/queue-access.ts';
import type { QueueAccess } from '../../shared/exports/queue-access.ts';
import {
  recordEnd,
  recordStart,
  reassignPriority,
  uncountStart,
  wakeWorker,
} from '../../shared/exports/job-lifecycle.ts';
import { toFailedReason } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Builds } from './builds.ts';
import { BuildPreempted, BuildRequeued, JobLockLost } from './builds.ts';
import type { ExportDependencies } from './build-archive.ts';
import { JobOfOtherRelease } from './profiles/profile.ts';
import { runExport } from './job.ts';
import { reportFailed, reportReady } from './report-export.ts';
import type { WorkerMetrics } from './metrics.ts';

/** The minimum time between two reports of progress, which are for people. */
const progressIntervalMs = 500;

/** The maximum number of starts of a job, because a poison job kills its workers. */
const maxStarts = 10;

/** The delay before a worker takes a job of another release again. Jitter varies which worker takes it. */
const handOverDelayMs = { min: 1_000, max: 3_000 };

/** Longer than any upgrade. If workers have handed a job over for this long, none can build it. */
const maxHandOverMs = 3_600_000;

export interface ProcessDependencies {
  build: ExportDependencies;
  queue: QueueAccess;
  builds: Builds;
  metrics: WorkerMetrics;
  log: Logger;
}

/**
 * Runs a job that this worker has started, until it ends or goes back to the queue.
 *
 * @param token identifies this worker's lock on the job.
 * @throws {UnrecoverableError} for a permanent failure; WaitingError or DelayedError for a job that is in the queue again;
 * any other error for a build that may be retried.
 */
export async function processExport(
  deps: ProcessDependencies,
  job: Job<ExportJob, ExportResult>,
  token: string,
): Promise<ExportResult> {
  const { queue, builds, metrics } = deps;
  const key = job.id ?? job.data.key;
  const log = deps.log.child({ job: key, lesson: job.data.slug, version: job.data.versionNumber });
  const started = Date.now();
  const seconds = () => (Date.now() - started) / 1000;
  // If this fails, fair scheduling advances at the next start.
  recordStart(queue, key)
    .then((isFirst) => isFirst && metrics.waited(Math.max(0, started - job.timestamp) / 1000))
    .catch(() => undefined);
  try {
    if (job.attemptsStarted > maxStarts) throw poisonJobError();
    const { organizationId } = job.data;
    const build = builds.run({ key, organizationId }, (signal) =>
      runExport(deps.build, job.data, { signal, onProgress: reportProgress(job) }),
    );
    // A build may take a while to stop, but its job goes back to the queue at once.
    const result = await builds.untilRequeued(build);
    await recordEnd(queue, key).catch(() => undefined);
    const existed = result.files === 0;
    if (!existed) {
      metrics.built(result.failures === 0 ? 'complete' : 'incomplete', seconds(), result.size);
    }
    const milliseconds = Date.now() - started;
    log.info({ ...result, milliseconds }, existed ? 'export existed already' : 'export built');
    await reportReady({ db: deps.build.db, queue, log }, job, result);
    return result;
  } catch (error) {
    if (error instanceof BuildRequeued) {
      metrics.built('given_back', seconds());
      await requeue(queue, job, token);
      log.info('export returned to the queue');
      throw new WaitingError();
    }
    if (error instanceof BuildPreempted) {
      metrics.built('gave_way', seconds());
      // Puts the preempted job behind the one that gets its slot. If this fails, it keeps its priority.
      await reassignPriority(queue, job.data, 'same').catch(() => undefined);
      await requeue(queue, job, token);
      log.info('export preempted for another organization');
      throw new WaitingError();
    }
    if (error instanceof BuildCancelled) {
      metrics.built('cancelled', seconds());
      // If this fails, the request expires by itself.
      await clearCancellation(queue, key).catch(() => undefined);
      log.info('export canceled');
      throw new UnrecoverableError(error.message);
    }
    if (error instanceof JobOfOtherRelease && (await handOver(queue, job, token))) {
      metrics.built('given_back', seconds());
      log.info({ detail: error.message }, 'export left to a worker of another release');
      throw new DelayedError();
    }
    if (error instanceof JobLockLost) {
      metrics.built('lost', seconds());
      log.warn('export left to another worker: the lock was lost');
      // The worker that now has the job decides its state, or BullMQ does when it notices the lost lock.
      throw new WaitingError();
    }
    metrics.built('failed', seconds());
    metrics.failed(error);
    log.error(
      { err: error, attempt: job.attemptsMade + 1, milliseconds: Date.now() - started },
      'export failed',
    );
    await recordEnd(queue, key).catch(() => undefined);
    const failure = await toJobFailure(queue, job, error);
    if (failure instanceof UnrecoverableError || !isRetried(job)) {
      await reportFailed({ db: deps.build.db, queue, log }, job, error);
    }
    throw failure;
  }
}

function poisonJobError(): LecternError {
  return new LecternError(
    'INTERNAL_ERROR',
    `Given up after ${maxStarts} starts: each time, the worker ended or lost the job before the archive was built`,
  );
}

/** Faults of the content are permanent. Any other error may be temporary, and its retry counts as a further build. */
async function toJobFailure(queue: QueueAccess, job: Job<ExportJob>, error: unknown): Promise<Error> {
  const poison = error instanceof LecternError && job.attemptsStarted > maxStarts;
  const permanent =
    poison || error instanceof JobOfOtherRelease || (error instanceof LecternError && error.expose);
  if (permanent) return new UnrecoverableError(toFailedReason(error));
  // If this fails, it keeps its priority.
  if (isRetried(job)) await reassignPriority(queue, job.data, 'same').catch(() => undefined);
  return new Error(toFailedReason(error), { cause: error });
}

/** Whether BullMQ retries a job after a temporary failure. */
function isRetried({ attemptsMade, opts }: Job<ExportJob>): boolean {
  return attemptsMade + 1 < (opts.attempts ?? 1);
}

/** Moves a job of this worker back to waiting, ahead of all others of its priority. */
async function requeue(queue: QueueAccess, job: Job<ExportJob>, token: string): Promise<void> {
  await job.moveToWait(token);
  // The job did not fail: deployments must not add up to a poison job.
  await uncountStart(queue, job.id ?? job.data.key);
  // BullMQ wakes no worker for a job that moves back.
  await wakeWorker(queue);
}

/**
 * Moves a job of this worker back to the queue, for a worker of another release.
 *
 * @returns false when workers have handed it over for so long that none can build it.
 */
async function handOver(queue: QueueAccess, job: Job<ExportJob>, token: string): Promise<boolean> {
  const key = job.id ?? job.data.key;
  if ((await recordHandOver(queue, key)) > maxHandOverMs) return false;
  const { min, max } = handOverDelayMs;
  await job.moveToDelayed(Date.now() + min + Math.random() * (max - min), token);
  await uncountStart(queue, key);
  return true;
}

function reportProgress(job: Job): (progress: ExportProgress) => void {
  let last = 0;
  return (progress) => {
    const now = Date.now();
    if (now - last < progressIntervalMs && progress.done < progress.total) return;
    last = now;
    // A failed report of progress must not fail the build.
    job.updateProgress({ ...progress }).catch(() => undefined);
  };
}
