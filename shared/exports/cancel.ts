import { closeExport } from './enqueue.ts';
import { forgetFailure } from './failures.ts';
import type { ExportJob } from './jobs.ts';
import type { ExportQueue } from './queues.ts';
import { keepCanceled } from './recent.ts';

/** Longer than a worker needs to notice the cancellation, even if another one has to take over the job first. */
const cancellationTtlSeconds = 3600;

/** The effect of a cancellation: the job left the queue, its worker stops it within seconds, or there was none. */
export type CancellationOutcome = 'removed' | 'stopping' | 'none';

/**
 * Cancels the job of an archive that waits or runs. A request that waits for it adds another job.
 *
 * @param jobId cancels only this job, and none that a later request has added.
 * @throws when Redis does not respond.
 */
export async function cancelOpenJob(
  queue: ExportQueue,
  job: ExportJob,
  jobId?: string,
): Promise<CancellationOutcome> {
  const open = await queue.findOpenJob(job.key);
  if (open === null) return 'none';
  const { id = '' } = open.job;
  if (jobId !== undefined && id !== jobId) return 'none';
  if ((await queue.remove(id)) === 0) {
    await queue.redis.set(cancellationKey(queue, id), '1', 'EX', cancellationTtlSeconds);
    return 'stopping';
  }
  await Promise.all([
    closeExport(queue, job),
    forgetFailure(queue, job.key),
    keepCanceled(queue, id, open.job),
  ]);
  return 'removed';
}

/** Returns the jobs among these that have to stop, each once: an operator may retry a canceled job. */
export async function takeCancelled(queue: ExportQueue, jobIds: string[]): Promise<string[]> {
  if (jobIds.length === 0) return [];
  const keys = jobIds.map((id) => cancellationKey(queue, id));
  const cancellations = await queue.redis.mget(keys);
  const cancelled = jobIds.filter((_, index) => cancellations[index] !== null);
  if (cancelled.length > 0) await queue.redis.del(cancelled.map((id) => cancellationKey(queue, id)));
  return cancelled;
}

function cancellationKey(queue: ExportQueue, jobId: string): string {
  return queue.ownKey(`cancel:${jobId}`);
}
