import { z } from 'zod';
import type { ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { toFailedReason } from '../../shared/exports/jobs.ts';
import type { ExportQueue, QueuedExport } from '../../shared/exports/queues.ts';
import { eventDefinitions } from '../../shared/events/event-types.ts';
import type { LecternEvent } from '../../shared/events/event-types.ts';
import type { Database } from '../../shared/models/database.ts';
import { publishEvent } from '../../shared/outgoing/publish-events.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';

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
 * Each export adds an event to the outbox before its job ends, so after a crash both steps are repeated. While MongoDB
 * is down, Redis keeps the event instead, and workers publish it later. While Redis is down too, the job waits for it.
 */

interface ReportDependencies {
  db: Database;
  queue: ExportQueue;
  log: Logger;
}

/** Adds the event of an archive that is ready to the outbox. A job that runs twice adds one event. */
export function reportReady(
  deps: ReportDependencies,
  job: Pick<QueuedExport, 'data' | 'timestamp'>,
  { size, failures }: ExportResult,
): Promise<void> {
  const { lessonId, data, ...event } = eventOf(job);
  return report(deps, {
    ...{ type: 'export.ready', ...event, lessonId },
    data: { ...data, lessonId, bytes: size, failures },
  });
}

/** Adds the event of an archive that could not be built to the outbox. */
export function reportFailed(
  deps: ReportDependencies,
  job: Pick<QueuedExport, 'data' | 'timestamp'>,
  error: unknown,
): Promise<void> {
  const { lessonId, data, ...event } = eventOf(job);
  return report(deps, {
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

/** Stores an event in MongoDB or Redis. Its failure does not fail the export. */
async function report({ db, queue, log }: ReportDependencies, event: LecternEvent): Promise<void> {
  try {
    await publishEvent(db, event);
  } catch (error) {
    log.warn(
      { err: error, type: event.type },
      'MongoDB could not store an event of an export: Redis keeps it',
    );
    await queue.redis
      .hset(keptKey(queue), event.key, JSON.stringify(event))
      .catch((failure: unknown) => log.warn({ err: failure }, 'Redis could not keep it either'));
  }
}

function keptKey(queue: ExportQueue): string {
  return queue.ownKey('kept-events');
}

const keptFields = {
  key: z.string(),
  at: z.coerce.date(),
  organizationId: z.string(),
  lessonId: z.string(),
  learnerId: z.null(),
};
const keptEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('export.ready'),
    ...keptFields,
    data: eventDefinitions['export.ready'].data,
  }),
  z.object({
    type: z.literal('export.failed'),
    ...keptFields,
    data: eventDefinitions['export.failed'].data,
  }),
]);

const publishIntervalMs = 2_000;

/** Publishes the events that Redis keeps, at startup and then at intervals. */
export function startPublishingKept(deps: ReportDependencies): Repetition {
  // Ignores failures while Redis or MongoDB is down: other code reports them, and the next run follows soon.
  return repeat(
    () => publishKept(deps),
    publishIntervalMs,
    () => undefined,
  );
}

async function publishKept({ db, queue, log }: ReportDependencies): Promise<void> {
  const kept = await queue.redis.hgetall(keptKey(queue));
  for (const [field, text] of Object.entries(kept)) {
    const event = keptEvent.safeParse(JSON.parse(text));
    // Another worker may publish the same event: it adds the same rows.
    if (event.success) await publishEvent(db, event.data);
    else log.error({ err: event.error }, 'an event of another release is not published');
    await queue.redis.hdel(keptKey(queue), field);
  }
}
