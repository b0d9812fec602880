import type { ExportQueue } from './queues.ts';
import { cancelKey, waitersKey } from './queue-access.ts';
import type { QueueAccess } from './queue-access.ts';

/** Longer than a worker takes to hear of it, also when another one has to take the job over first. */
const requestSeconds = 3600;

const waitingStates = ['waiting', 'prioritized', 'delayed', 'paused'];

/**
 * What became of a request to cancel: the job is out of the queue, its worker stops it within seconds, somebody waits
 * for it, or there was nothing to cancel.
 */
export type CancelOutcome = 'removed' | 'stopping' | 'wanted' | 'none';

/** Nobody can begin to wait between the look for who does and the request: askForExport takes a request back. */
const cancelUnlessWanted = `
local now = tonumber(redis.call('TIME')[1])
if redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf') > 0 then return 0 end
redis.call('SET', KEYS[1], '1', 'EX', ARGV[1])
return 1
`;

/**
 * Cancels the job of an archive, if it waits or is under way and nobody waits for it. A job that is under way fails,
 * with a reason that {@link isCancelled} tells; whoever asks for the archive again has it built anew.
 *
 * @throws when Redis does not answer.
 */
export async function requestCancel(queue: ExportQueue, jobKey: string): Promise<CancelOutcome> {
  const request = cancelKey(queue, jobKey);
  const waiters = waitersKey(queue, jobKey);
  const requested = await queue.redis.eval(cancelUnlessWanted, 2, request, waiters, requestSeconds);
  if (requested === 0) return 'wanted';
  const state = await queue.getJobState(jobKey);
  if (waitingStates.includes(state) && (await queue.remove(jobKey)) === 1) {
    await queue.redis.del(request);
    return 'removed';
  }
  // One that was started just now is not removed; its worker finds the request.
  if (state === 'active' || waitingStates.includes(state)) return 'stopping';
  await queue.redis.del(request);
  return 'none';
}

/** Those of some jobs that shall stop. */
export async function findCancelled(queue: QueueAccess, jobKeys: string[]): Promise<string[]> {
  if (jobKeys.length === 0) return [];
  const requests = await queue.redis.mget(jobKeys.map((key) => cancelKey(queue, key)));
  return jobKeys.filter((_, index) => requests[index] !== null);
}

/**
 * A build was stopped, and the request with it: whoever has its job tried again means another build.
 *
 * @throws when Redis does not answer.
 */
export async function endCancel(queue: QueueAccess, jobKey: string): Promise<void> {
  await queue.redis.del(cancelKey(queue, jobKey));
}

const cancelledReason = 'CANCELLED: nobody waits for this export any more';

/** Why a build was stopped, as its job's reason of failure tells it. */
export class BuildCancelled extends Error {
  override readonly name = 'BuildCancelled';

  constructor() {
    super(cancelledReason);
  }
}

/** Whether a job that failed was cancelled: then nothing is wrong with it, and it may be built at once. */
export function isCancelled(failedReason: string | undefined): boolean {
  return failedReason === cancelledReason;
}
