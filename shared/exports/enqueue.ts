import type { Job } from 'bullmq';
import type { ExportJob, ExportResult } from './jobs.ts';
import { LecternError } from '../platform/errors.ts';
import { nowInLua } from '../platform/redis.ts';
import type { ExportQueue } from './queues.ts';
import { priorityFunction, prebuildClass, readerClass } from './fair-scheduling.ts';
import type { JobClass } from './fair-scheduling.ts';
import { reassignPriority } from './job-lifecycle.ts';
import { cancellationKey, waitersKey } from './queue-access.ts';
import type { QueueAccess } from './queue-access.ts';

/** A waiting request renews its entry at every poll. After this long without one it counts as gone. */
const waiterTtlSeconds = 15;

/**
 * The maximum number of waiting jobs for each organization and class, so that pre-builds do not use up the readers'
 * jobs. Each job takes Redis memory, which all organizations share. The options of packages alone give a version some
 * 240,000 archives.
 */
export const maxWaitingJobs = 2000;

/** Redis checks a full count against the queue at most once in this time, because the check takes milliseconds. */
const recountSeconds = 2;
const countTtlSeconds = 86_400;
const retrySeconds = 10;

/**
 * Registers the waiting request and clears a cancellation. A job that is missing, or that waits as a pre-build, gets
 * the priority of a reader's job. Returns that priority and whether the job is in the queue, or nothing where the job
 * stays as it is. If too many jobs of the organization wait, it registers nothing and returns -1.
 */
const enqueueScript = `
local prefix, id, organization = ARGV[1], ARGV[2], ARGV[3]
${priorityFunction}
-- BullMQ would take a hash without data, the remains of a removed job, for the job.
if redis.call('HEXISTS', prefix .. id, 'data') == 0 then redis.call('DEL', prefix .. id) end
local priority, ended = unpack(redis.call('HMGET', prefix .. id, 'priority', 'finishedOn'))
if not priority then
  local jobs = prefix .. (ARGV[4] == 'read' and 'fair:jobs:' or 'fair:pre-builds:') .. organization
  local full = redis.call('SCARD', jobs) >= ${maxWaitingJobs}
  if full and redis.call('SET', jobs .. ':recounted', 1, 'NX', 'EX', ${recountSeconds}) then
    for _, other in ipairs(redis.call('SMEMBERS', jobs)) do
      if not redis.call('ZSCORE', prefix .. 'prioritized', other) then redis.call('SREM', jobs, other) end
    end
    full = redis.call('SCARD', jobs) >= ${maxWaitingJobs}
  end
  if full and redis.call('SISMEMBER', jobs, id) == 0 then return {-1} end
  redis.call('SADD', jobs, id)
  redis.call('EXPIRE', jobs, ${countTtlSeconds})
end
redis.call('DEL', KEYS[1])
if ARGV[5] ~= '' then
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('ZADD', KEYS[2], now + ${waiterTtlSeconds}, ARGV[5])
  redis.call('EXPIRE', KEYS[2], ${waiterTtlSeconds})
end
local waitsAsPrebuild = not ended and tonumber(priority or 0) >= ${prebuildClass.base}
if priority and (ARGV[4] ~= 'read' or not waitsAsPrebuild) then return {} end
if priority then
  ${nowInLua}
  redis.call('HSET', prefix .. id, 'timestamp', string.format('%.0f', now))
end
local base = ARGV[4] == 'read' and ${readerClass.base} or ${prebuildClass.base}
return {assign_priority(ARGV[4], base, organization, id), priority and 1 or 0}
`;

/**
 * Ensures that an archive's job is in the queue as a reader's job, and raises a waiting pre-build. A waiting request
 * calls this at every poll. An ended job stays as it is: see {@link rerunEndedExport}.
 *
 * @param waiter the id of a request that waits for the archive, or null for a request that returns later. The job
 * cannot be canceled before {@link removeWaiter}, or until 15 seconds after the request's last poll.
 * @throws {LecternError} TOO_MANY_REQUESTS if {@link maxWaitingJobs} of the organization wait.
 * @throws when Redis does not respond.
 */
export async function enqueueExport(
  queue: ExportQueue,
  job: ExportJob,
  waiter: string | null,
): Promise<void> {
  const assigned = await prepareEnqueue(queue, job, readerClass, waiter ?? '');
  if (assigned === null) return;
  if (assigned === 'full') throw tooManyJobs();
  const { priority, isQueued } = assigned;
  if (!isQueued) await queue.add('export', job, { jobId: job.key, priority });
  // The next poll adds a job that was removed in the meantime.
  else await (await queue.getJob(job.key))?.changePriority({ priority });
}

function tooManyJobs(): LecternError {
  const message = `${maxWaitingJobs} exports of your organization are waiting; try again in ${retrySeconds} seconds`;
  return new LecternError('TOO_MANY_REQUESTS', message, { retryAfterSeconds: retrySeconds });
}

/**
 * Queues an archive to be built while no reader's job waits, unless its job is already in the queue or the organization
 * has too many there. In that case, a request for the archive queues it.
 */
export async function enqueuePrebuild(queue: ExportQueue, job: ExportJob): Promise<void> {
  const assigned = await prepareEnqueue(queue, job, prebuildClass, '');
  if (assigned !== null && assigned !== 'full')
    await queue.add('export', job, { jobId: job.key, priority: assigned.priority });
}

/** Removes a request that no longer waits for an archive. */
export async function removeWaiter(queue: QueueAccess, jobKey: string, waiter: string): Promise<void> {
  await queue.redis.zrem(waitersKey(queue, jobKey), waiter);
}

/**
 * Moves an ended job back to waiting as a build that counts for its organization. Exactly one of several concurrent
 * callers succeeds, for all of them.
 */
export async function rerunEndedExport(
  queue: ExportQueue,
  ended: Job<ExportJob, ExportResult>,
  state: 'completed' | 'failed',
): Promise<void> {
  await reassignPriority(queue, ended.data, 'readers');
  await ended.retry(state, { resetAttemptsMade: true, resetAttemptsStarted: true }).catch(() => undefined);
}

/** Returns how many jobs start before a waiting one; null for a job that does not wait. */
export async function countJobsAhead(queue: QueueAccess, jobKey: string): Promise<number | null> {
  const [rank, front] = await Promise.all([
    queue.redis.zrank(queue.toKey('prioritized'), jobKey),
    queue.redis.llen(queue.toKey('wait')),
  ]);
  return rank === null ? null : rank + front;
}

/** Returns null where the job stays as it is. */
async function prepareEnqueue(
  queue: ExportQueue,
  { key, organizationId }: ExportJob,
  jobClass: JobClass,
  waiter: string,
): Promise<{ priority: number; isQueued: boolean } | 'full' | null> {
  const keys = [cancellationKey(queue, key), waitersKey(queue, key)];
  const details = [queue.toKey(''), key, organizationId, jobClass.name, waiter];
  const [priority, queued] = (await queue.redis.eval(
    enqueueScript,
    keys.length,
    ...keys,
    ...details,
  )) as number[];
  if (priority === -1) return 'full';
  return priority === undefined ? null : { priority, isQueued: queued === 1 };
}
