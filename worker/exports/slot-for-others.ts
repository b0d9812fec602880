import { DelayedError, Worker } from 'bullmq';
import type { Processor, WorkerOptions } from 'bullmq';
import { isPrebuild } from '../../shared/exports/enqueue.ts';
import type { ExportJob, ExportResult } from '../../shared/exports/jobs.ts';
import type { ExportQueue, QueuedExport } from '../../shared/exports/queues.ts';
import { repeat } from '../../shared/platform/repeat.ts';

/** Short enough that another organization's export begins within a second. */
const pollIntervalMs = 300;

/** How many waiting jobs are considered. An organization with few exports is among the first. */
const consideredJobs = 50;

/** How long the jobs of organizations that already have a build wait, while the slot looks for another one. */
const deferMs = 1_000;

interface SlotOptions {
  /** Those of the main worker. */
  options: WorkerOptions;
  /** The organizations of the running builds, by job id. */
  running: ReadonlyMap<string, string>;
  /** Returns whether all other slots are taken. */
  isFull: () => boolean;
}

/**
 * Opens a further slot for builds of a worker, for organizations without a build in this process, so that one
 * organization's slow builds cannot keep others out.
 *
 * It is a separate BullMQ worker, which is paused unless all slots of the main one are taken and such an organization
 * waits. It then takes the first jobs in the queue, and puts back those of organizations that have a build already.
 *
 * @param process runs a job, as the main worker does.
 */
export function openSlotForOthers(
  queue: ExportQueue,
  process: Processor<ExportJob, ExportResult>,
  { options, running, isFull }: SlotOptions,
): { worker: Worker<ExportJob, ExportResult>; stop: () => void } {
  const mayTake = (job: QueuedExport) =>
    !isPrebuild(job) && ![...running.values()].includes(job.data.organizationId);
  let isTaken = false;
  let deferred = 0;
  const worker: Worker<ExportJob, ExportResult> = new Worker<ExportJob, ExportResult>(
    queue.name,
    async (job, token, signal) => {
      if (mayTake(job)) {
        isTaken = true;
        await worker.pause(true);
        return process(job, token, signal).finally(() => (isTaken = false));
      }
      deferred += 1;
      if (deferred >= consideredJobs) await worker.pause(true);
      await job.moveToDelayed(Date.now() + deferMs, token);
      throw new DelayedError();
    },
    // BullMQ may first wait for the delay, although jobs wait.
    { ...options, concurrency: 1, drainDelay: 0.2, skipStalledCheck: true },
  );
  void worker.pause(true);
  const polling = repeat(
    async () => {
      if (isTaken) return;
      const waiting = isFull()
        ? await queue.getJobs(['waiting', 'prioritized'], 0, consideredJobs - 1, true)
        : [];
      deferred = 0;
      await (waiting.some(mayTake) ? worker.resume() : worker.pause(true));
    },
    pollIntervalMs,
    // Redis does not respond; the next poll comes soon.
    () => undefined,
  );
  return { worker, stop: () => void polling.stop() };
}
