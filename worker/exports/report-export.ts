import type { ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { toFailedReason } from '../../shared/exports/jobs.ts';
import type { QueuedExport } from '../../shared/exports/queues.ts';
import type { LecternEvent } from '../../shared/events/event-types.ts';
import type { Database } from '../../shared/models/database.ts';
import { publishEvent } from '../../shared/outgoing/publish-events.ts';
import { messageOf } from '../../shared/platform/errors.ts';

/** The minimum time between two reports of progress, which are for people. */
const progressIntervalMs = 500;

/** Returns a function that reports the progress of a build to the queue. */
export function reportProgress(job: QueuedExport): (progress: ExportProgress) => void {
  let last = 0;
  return (progress) => {
    const now = Date.now();
    if (now - last < progressIntervalMs && progress.done < progress.total) return;
    last = now;
    // A failed report of progress must not fail the build.
    job.updateProgress({ ...progress }).catch(() => undefined);
  };
}

/*
 * Each export adds an event to the outbox before its job ends, so after a crash both steps are repeated.
 */

/** Reports that MongoDB could not store the event of an export: the job runs again later, and reports the same event. */
export class UnreportedExport extends Error {}

/**
 * Adds the event of an archive that is ready to the outbox. A job that runs twice adds one event.
 *
 * @throws {UnreportedExport}
 */
export function reportReady(
  db: Database,
  job: Pick<QueuedExport, 'data' | 'timestamp'>,
  { size, failures }: ExportResult,
): Promise<void> {
  const { lessonId, data, ...event } = eventOf(job);
  return report(db, {
    ...{ type: 'export.ready', ...event, lessonId },
    data: { ...data, lessonId, bytes: size, failures },
  });
}

/**
 * Adds the event of an archive that could not be built to the outbox.
 *
 * @throws {UnreportedExport}
 */
export function reportFailed(
  db: Database,
  job: Pick<QueuedExport, 'data' | 'timestamp'>,
  error: unknown,
): Promise<void> {
  const { lessonId, data, ...event } = eventOf(job);
  return report(db, {
    ...{ type: 'export.failed', ...event, lessonId },
    data: { ...data, lessonId, error: toFailedReason(error).slice(0, 1000) },
  });
}

function eventOf({ data: job, timestamp }: Pick<QueuedExport, 'data' | 'timestamp'>) {
  const { organizationId, lessonId, versionId, versionNumber, profile, key } = job;
  return {
    // One key may be built again later, by another job.
    key: `export:${key}:${timestamp}`,
    ...{ at: new Date(), organizationId, lessonId, learnerId: null },
    data: { organizationId, versionId, versionNumber, profile },
  };
}

async function report(db: Database, event: LecternEvent): Promise<void> {
  try {
    await publishEvent(db, event);
  } catch (error) {
    throw new UnreportedExport(`MongoDB could not store ${event.type}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
