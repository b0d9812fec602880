import type { Job } from 'bullmq';
import type { ErrorCode } from '../../shared/platform/errors.ts';
import { countJobsAhead } from '../../shared/exports/enqueue.ts';
import { isCancelled } from '../../shared/exports/cancel.ts';
import { exportProgressSchema, fromFailedReason, incompleteKey } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { findExportRecord } from '../../shared/models/export-record.ts';
import { countWorkers } from '../../shared/operations/workers.ts';
import { statusEvents } from '../http/status-events.ts';
import { openArchive } from './archive-requests.ts';
import type { ArchiveRequestDependencies } from './archive-requests.ts';
import type { JobSubscriptions } from './job-subscriptions.ts';

export const exportStates = ['none', 'queued', 'building', 'ready', 'failed'] as const;

/** The status of an export. */
export interface ExportStatus {
  /** `none`: it was never requested, it was canceled, or its archive was evicted. */
  status: (typeof exportStates)[number];
  /** Files and bytes that the build has written, and files in total. */
  progress: ExportProgress;
  /** Its position in the queue, from 1; only while it waits. */
  position?: number;
  /** Why no worker could take it: no worker process is running. */
  reason?: 'no_worker';
  /** The failure of the build, with a message for callers. */
  error?: { code: ErrorCode; message: string };
}

const noProgress: ExportProgress = { done: 0, total: 0, bytes: 0 };

/** The message for callers where the real one is internal. */
const internalErrorMessage = 'An unexpected error occurred while generating the export';

export type StatusDependencies = Pick<
  ArchiveRequestDependencies,
  'db' | 'archives' | 'queue' | 'incomplete' | 'config'
>;

/**
 * Returns the status of an export, from the store and the queue.
 *
 * @throws when the store does not respond, or when Redis does not and no archive is in the store.
 */
export async function readExportStatus(deps: StatusDependencies, job: ExportJob): Promise<ExportStatus> {
  const ready = await readyStatus(deps, job);
  if (ready !== null) return ready;
  // The order matters: a job that is read before it fails lacks the reason.
  const state = await deps.queue.getJobState(job.key);
  const queued = await deps.queue.getJob(job.key);
  if (state === 'active') return { status: 'building', progress: progressOf(queued) };
  if (state === 'failed') return failedStatus(queued);
  const none: ExportStatus = { status: 'none', progress: noProgress };
  // A completed archive was evicted, unless it was built after the store lookup.
  if (state === 'completed') return (await readyStatus(deps, job)) ?? none;
  if (state === 'unknown') return none;
  // A job that waits for its next retry has no position yet.
  const [ahead, workers] = await Promise.all([countJobsAhead(deps.queue, job.key), countWorkers(deps.queue)]);
  return {
    status: 'queued',
    progress: noProgress,
    ...(ahead !== null && { position: ahead + 1 }),
    ...(workers === 0 && { reason: 'no_worker' }),
  };
}

/** Yields the status of an export as Server-Sent Events: see {@link statusEvents}. */
export async function* exportStatusEvents(
  deps: StatusDependencies & { subscriptions: JobSubscriptions },
  job: ExportJob,
  options: { first: ExportStatus; signal: AbortSignal; heartbeatMs?: number },
): AsyncGenerator<string> {
  const subscription = deps.subscriptions.toChanges(job.key);
  try {
    yield* statusEvents({
      ...options,
      read: () => deps.subscriptions.cachedRead(job.key, () => readExportStatus(deps, job)),
      changed: (timeoutMs, signal) => subscription.next(timeoutMs, signal),
      isFinal,
      waitSeconds: deps.config.export.waitSeconds,
    });
  } finally {
    subscription.close();
  }
}

/** Returns whether the status stays as it is without another request. */
export function isFinal({ status }: ExportStatus): boolean {
  return status !== 'queued' && status !== 'building';
}

/** Returns null where the store has no archive to serve now. */
async function readyStatus(deps: StatusDependencies, job: ExportJob): Promise<ExportStatus | null> {
  const archive = await openArchive(deps, job);
  if (archive === null) return null;
  await archive.close();
  return { status: 'ready', progress: await finalProgress(deps, job) };
}

function failedStatus(queued: Job<ExportJob, ExportResult> | undefined): ExportStatus {
  if (queued === undefined || isCancelled(queued.failedReason)) {
    return { status: 'none', progress: noProgress };
  }
  const { code, expose, message } = fromFailedReason(queued.failedReason);
  return {
    status: 'failed',
    progress: progressOf(queued),
    error: { code, message: expose ? message : internalErrorMessage },
  };
}

/** Returns the progress from the job, which is kept for a day; after that, or without Redis, from the record. */
async function finalProgress({ db, queue }: StatusDependencies, { key }: ExportJob): Promise<ExportProgress> {
  const reported = progressOf(await queue.getJob(key).catch(() => undefined));
  if (reported.total > 0 && reported.done === reported.total) return reported;
  const record = (await findExportRecord(db, key)) ?? (await findExportRecord(db, incompleteKey(key)));
  const entries = record?.entries ?? [];
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  return { done: entries.length, total: entries.length, bytes };
}

/** Returns no progress for a job that has reported none: BullMQ then has the number 0. */
function progressOf(queued: Job | undefined): ExportProgress {
  return exportProgressSchema.safeParse(queued?.progress).data ?? noProgress;
}
