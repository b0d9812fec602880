import type { Job } from 'bullmq';
import type { ExportJob, ExportResult } from '../../shared/exports/jobs.ts';
import { toFailedReason } from '../../shared/exports/jobs.ts';
import type { LecternEvent } from '../../shared/events/event-types.ts';
import type { Database } from '../../shared/models/database.ts';
import { publishEvent } from '../../shared/outgoing/publish-events.ts';
import type { Logger } from '../../shared/platform/log.ts';

interface ReportDependencies {
  db: Database;
  log: Logger;
}

/** Adds the event of an archive that is ready to the outbox. A job that runs twice adds one event. */
export function reportReady(
  deps: ReportDependencies,
  job: Job<ExportJob>,
  { size, failures }: ExportResult,
): Promise<void> {
  const { lessonId, data, ...event } = eventOf(job);
  return report(deps, {
    ...{ type: 'export.ready', ...event, lessonId },
    data: { ...data, lessonId, bytes: size, failures },
  });
}

/** Adds the event of an archive that could not be built to the outbox. */
export function reportFailed(deps: ReportDependencies, job: Job<ExportJob>, error: unknown): Promise<void> {
  const { lessonId, data, ...event } = eventOf(job);
  return report(deps, {
    ...{ type: 'export.failed', ...event, lessonId },
    data: { ...data, lessonId, error: toFailedReason(error).slice(0, 1000) },
  });
}

function eventOf({ data: job, timestamp }: Job<ExportJob>) {
  const { organizationId, lessonId, versionId, versionNumber, profile, key } = job;
  return {
    // One key may be built again later, by another job.
    key: `export:${key}:${timestamp}`,
    ...{ at: new Date(), organizationId, lessonId, learnerId: null },
    data: { organizationId, versionId, versionNumber, profile },
  };
}

/** The export has ended, whether or not its event can be stored. */
async function report({ db, log }: ReportDependencies, event: LecternEvent): Promise<void> {
  await publishEvent(db, event).catch((error: unknown) =>
    log.warn({ err: error, type: event.type }, 'an event of an export could not be stored'),
  );
}
