import type { ErrorCode } from '../../shared/platform/errors.ts';
import { untilAborted } from '../../shared/platform/abort-listeners.ts';
import { readFailure } from '../../shared/exports/failures.ts';
import type { ExportFailure } from '../../shared/exports/failures.ts';
import { fromFailedReason, incompleteKey, noProgress, progressOf } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress } from '../../shared/exports/jobs.ts';
import type { ExportQueue, QueuedExport } from '../../shared/exports/queues.ts';
import { findExportRecord } from '../../shared/models/export-record.ts';
import { statusEvents } from '../http/status-events.ts';
import { openArchive } from './archive-requests.ts';
import type { ArchiveRequestDependencies } from './archive-requests.ts';
import type { ExportChanges } from './export-changes.ts';

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

/** The number of waiting jobs that have a position. */
const countedJobs = 10_000;

/** The message for callers where the real one is internal. */
export const internalErrorMessage = 'An unexpected error occurred while generating the export';

type StatusDependencies = Pick<
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
  const open = await deps.queue.findOpenJob(job.key);
  if (open?.state === 'active') return { status: 'building', progress: progressOf(open.job) };
  if (open !== null) return queuedStatus(deps.queue, open.job);
  const failure = await readFailure(deps.queue, job.key);
  // Its job may have ended after the store lookup.
  const ended = await readyStatus(deps, job);
  return ended ?? (failure === null ? { status: 'none', progress: noProgress } : failedStatus(failure));
}

/** Yields the status of an export as Server-Sent Events: see {@link statusEvents}. */
export async function* exportStatusEvents(
  deps: StatusDependencies & { changes: ExportChanges },
  job: ExportJob,
  options: { first: ExportStatus; signal: AbortSignal; heartbeatMs?: number },
): AsyncGenerator<string> {
  let change = deps.changes.next(job.key);
  yield* statusEvents({
    ...options,
    read: () => readExportStatus(deps, job),
    changed: async (_timeoutMs, signal) => {
      await untilAborted(change, signal);
      change = deps.changes.next(job.key);
    },
    isFinal,
    waitSeconds: deps.config.export.waitSeconds,
  });
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

async function queuedStatus(queue: ExportQueue, { id = '' }: QueuedExport): Promise<ExportStatus> {
  const [waiting, workers] = await Promise.all([
    queue.getRanges(['wait', 'prioritized'], 0, countedJobs - 1, true),
    queue.countWorkers(),
  ]);
  const ahead = waiting.indexOf(id);
  return {
    status: 'queued',
    progress: noProgress,
    // A job that waits for its next retry has no position yet.
    ...(ahead >= 0 && { position: ahead + 1 }),
    ...(workers === 0 && { reason: 'no_worker' }),
  };
}

function failedStatus({ reason, progress }: ExportFailure): ExportStatus {
  const { code, expose, message } = fromFailedReason(reason);
  return { status: 'failed', progress, error: { code, message: expose ? message : internalErrorMessage } };
}

/** Returns the files and bytes of the archive, from its record. */
async function finalProgress({ db }: StatusDependencies, { key }: ExportJob): Promise<ExportProgress> {
  const record = (await findExportRecord(db, key)) ?? (await findExportRecord(db, incompleteKey(key)));
  const entries = record?.entries ?? [];
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  return { done: entries.length, total: entries.length, bytes };
}
