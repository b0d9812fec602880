import type { ExportQueue } from './queues.ts';
import { cancellationKey, waitersKey } from './queue-access.ts';
import type { QueueAccess } from './queue-access.ts';

/** Longer than a worker needs to notice the request, even if another worker has to take over the job first. */
const requestTtlSeconds = 3600;

const waitingStates = ['waiting', 'prioritized', 'delayed', 'paused'];

/**
 * The effect of a cancellation: the job left the queue, its worker stops it within seconds, a request still
 * waits for it, or there was nothing to cancel.
 */
export type CancellationOutcome = 'removed' | 'stopping' | 'wanted' | 'none';

/**
 * Atomic, so that no request can begin to wait between the check and the cancellation; `enqueueExport` clears
 * it.
 */
const cancelUnlessWanted = `
local now = tonumber(redis.call('TIME')[1])
if redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf') > 0 then return 0 end
redis.call('SET', KEYS[1], '1', 'EX', ARGV[1])
return 1
`;

/**
 * Cancels the job of an archive that waits or runs, unless a request waits for it. A running job fails with a
 * reason that {@link isCancelled} recognizes. The next request for the archive builds it.
 *
 * @throws when Redis does not respond.
 */
export async function requestCancellation(queue: ExportQueue, jobKey: string): Promise<CancellationOutcome> {
  const request = cancellationKey(queue, jobKey);
  const waiters = waitersKey(queue, jobKey);
  const requested = await queue.redis.eval(cancelUnlessWanted, 2, request, waiters, requestTtlSeconds);
  if (requested === 0) return 'wanted';
  const state = await queue.getJobState(jobKey);
  if (waitingStates.includes(state) && (await queue.remove(jobKey)) === 1) {
    await queue.redis.del(request);
    return 'removed';
  }
  // A job that started just now is not removed; its worker polls for the cancellation.
  if (state === 'active' || waitingStates.includes(state)) return 'stopping';
  await queue.redis.del(request);
  return 'none';
}

/** Returns the jobs among these that have to stop. */
export async function findCancelled(queue: QueueAccess, jobKeys: string[]): Promise<string[]> {
  if (jobKeys.length === 0) return [];
  const requests = await queue.redis.mget(jobKeys.map((key) => cancellationKey(queue, key)));
  return jobKeys.filter((_, index) => requests[index] !== null);
}

/**
 * Clears the cancellation of a stopped build, so that a retry of its job builds the archive.
 *
 * @throws when Redis does not respond.
 */
export async function clearCancellation(queue: QueueAccess, jobKey: string): Promise<void> {
  await queue.redis.del(cancellationKey(queue, jobKey));
}

const cancelledReason = 'CANCELLED: nobody waits for this export any more';

/** Stops a build; the message becomes its job's reason of failure. */
export class BuildCancelled extends Error {
  override readonly name = 'BuildCancelled';

  constructor() {
    super(cancelledReason);
  }
}

/** Returns whether a failed job was canceled. Such a job has no fault, so it may run again at once. */
export function isCancelled(failedReason: string | undefined): boolean {
  return failedReason === cancelledReason;
}
