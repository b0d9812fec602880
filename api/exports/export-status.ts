import type { Job } from 'bullmq';
import type { ErrorCode } from '../../shared/platform/errors.ts';
import { jobsBefore } from '../../shared/exports/ask.ts';
import { isCancelled } from '../../shared/exports/cancel.ts';
import { exportProgressSchema, fromFailedReason, incompleteKey } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { findExportRecord } from '../../shared/models/export-record.ts';
import { countWorkers } from '../../shared/operations/workers.ts';
import { openArchive } from './archive-requests.ts';
import type { ArchiveRequestDependencies } from './archive-requests.ts';

export const exportStates = ['none', 'queued', 'building', 'ready', 'failed'] as const;

/** Where an export is. */
export interface ExportStatus {
  /** `none`: nobody has asked for it, it was cancelled, or its archive has left the store. */
  status: (typeof exportStates)[number];
  /** Files and bytes that the build has written, of as many files. */
  progress: ExportProgress;
  /** How many exports are built before it, and one; there while it waits its turn. */
  position?: number;
  /** Why it waits, where that is not its turn: no worker process is running. */
  reason?: 'no_worker';
  /** There when the build has failed. The message may be shown to callers. */
  error?: { code: ErrorCode; message: string };
}

const noProgress: ExportProgress = { done: 0, total: 0, bytes: 0 };

/** What callers are told of a failure that is none of their business. */
const unexpected = 'An unexpected error occurred while generating the export';

export type StatusDependencies = Pick<
  ArchiveRequestDependencies,
  'db' | 'archives' | 'queue' | 'incomplete' | 'config'
>;

/**
 * Where an export is now, as the store and the queue say.
 *
 * @throws when the store does not answer; also when Redis does not, unless the archive is there.
 */
export async function readExportStatus(deps: StatusDependencies, job: ExportJob): Promise<ExportStatus> {
  const ready = await readyStatus(deps, job);
  if (ready !== null) return ready;
  // In this order: a job that was read before it failed does not say why.
  const state = await deps.queue.getJobState(job.key);
  const queued = await deps.queue.getJob(job.key);
  if (state === 'active') return { status: 'building', progress: progressOf(queued) };
  if (state === 'failed') return failedStatus(queued);
  const none: ExportStatus = { status: 'none', progress: noProgress };
  // One that is completed has left the store, unless it was built after the store was looked at.
  if (state === 'completed') return (await readyStatus(deps, job)) ?? none;
  if (state === 'unknown') return none;
  // One that waits for its next try has no turn yet.
  const [before, workers] = await Promise.all([jobsBefore(deps.queue, job.key), countWorkers(deps.queue)]);
  return {
    status: 'queued',
    progress: noProgress,
    ...(before !== null && { position: before + 1 }),
    ...(workers === 0 && { reason: 'no_worker' }),
  };
}

/** Whether nothing more happens by itself. */
export function isFinal({ status }: ExportStatus): boolean {
  return status !== 'queued' && status !== 'building';
}

/** Null where the store has no archive to be served now. */
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
    error: { code, message: expose ? message : unexpected },
  };
}

/** As the build has told it, whose job is kept for a day; after that, or without Redis, as its record has it. */
async function finalProgress({ db, queue }: StatusDependencies, { key }: ExportJob): Promise<ExportProgress> {
  const told = progressOf(await queue.getJob(key).catch(() => undefined));
  if (told.total > 0 && told.done === told.total) return told;
  const record = (await findExportRecord(db, key)) ?? (await findExportRecord(db, incompleteKey(key)));
  const entries = record?.entries ?? [];
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  return { done: entries.length, total: entries.length, bytes };
}

/** BullMQ starts with the number 0. */
function progressOf(queued: Job | undefined): ExportProgress {
  return exportProgressSchema.safeParse(queued?.progress).data ?? noProgress;
}
