import type { Job } from 'bullmq';
import type { ExportJob, ExportResult } from './jobs.ts';
import { nowInLua } from '../platform/lua.ts';
import type { ExportQueue } from './queues.ts';
import { placeFunction, prebuilding, reading } from './fair-scheduling.ts';
import type { JobClass } from './fair-scheduling.ts';
import { cancelKey, waitersKey } from './queue-access.ts';
import type { QueueAccess } from './queue-access.ts';
import { placeAgain } from './start.ts';

/** Who waits says so at every look; one who has said nothing for so many seconds is gone. */
const waiterSeconds = 15;

/**
 * A reader's look: notes who waits, takes back a request to cancel, and gives a job that is not there, or waits among
 * those that nobody asked for, its place among the readers', from now on. Answers with the priority that the job is to
 * have, and whether it is in the queue; with nothing where it may stay as it is.
 */
const askScript = `
local prefix, id, organization = ARGV[1], ARGV[2], ARGV[3]
${placeFunction}
if ARGV[5] ~= '' then
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('ZADD', KEYS[2], now + ${waiterSeconds}, ARGV[5])
  redis.call('EXPIRE', KEYS[2], ${waiterSeconds})
end
redis.call('DEL', KEYS[1])
-- A hash without its data is what is left of a job: BullMQ would take it for the job.
if redis.call('HEXISTS', prefix .. id, 'data') == 0 then redis.call('DEL', prefix .. id) end
local priority, ended = unpack(redis.call('HMGET', prefix .. id, 'priority', 'finishedOn'))
local waitsBehind = not ended and tonumber(priority or 0) >= ${prebuilding.base}
if priority and (ARGV[4] ~= 'read' or not waitsBehind) then return {} end
if priority then
  ${nowInLua}
  redis.call('HSET', prefix .. id, 'timestamp', string.format('%.0f', now))
end
local base = ARGV[4] == 'read' and ${reading.base} or ${prebuilding.base}
return {place(ARGV[4], base, organization, id), priority and 1 or 0}
`;

/**
 * Sees to it that an archive's job is in the queue, as a job that somebody wants; one that waits as pre-building is
 * raised. Callers who wait do so again at every look. A job that has ended stays as it is: see {@link reviveExport}.
 *
 * @param waiter the caller's own id, where it waits for the archive: until {@link stopWaiting}, or for 15 seconds
 * after its last look, the job cannot be cancelled. Null for one who comes back some time.
 * @throws when Redis does not answer.
 */
export async function askForExport(queue: ExportQueue, job: ExportJob, waiter: string | null): Promise<void> {
  const place = await ask(queue, job, reading, waiter ?? '');
  if (place === null) return;
  const { priority, waits } = place;
  if (!waits) await queue.add('export', job, { jobId: job.key, priority });
  // One that is gone meanwhile is added at the next look.
  else await (await queue.getJob(job.key))?.changePriority({ priority });
}

/** Has an archive built when no reader's waits, if its job is not in the queue already. */
export async function prebuildExport(queue: ExportQueue, job: ExportJob): Promise<void> {
  const place = await ask(queue, job, prebuilding, '');
  if (place !== null) await queue.add('export', job, { jobId: job.key, priority: place.priority });
}

/** The caller waits for an archive no longer. */
export async function stopWaiting(queue: QueueAccess, jobKey: string, waiter: string): Promise<void> {
  await queue.redis.zrem(waitersKey(queue, jobKey), waiter);
}

/**
 * Moves a job that has ended back to waiting, as a build of its own: it stands where a new job of its organization
 * would. Of all who try at once one succeeds, which does the same for the others.
 */
export async function reviveExport(
  queue: ExportQueue,
  ended: Job<ExportJob, ExportResult>,
  state: 'completed' | 'failed',
): Promise<void> {
  await placeAgain(queue, ended.data, 'readers');
  await ended.retry(state, { resetAttemptsMade: true, resetAttemptsStarted: true }).catch(() => undefined);
}

/** How many jobs are started before one that waits; null for one that does not wait. */
export async function jobsBefore(queue: QueueAccess, jobKey: string): Promise<number | null> {
  const [rank, front] = await Promise.all([
    queue.redis.zrank(queue.toKey('prioritized'), jobKey),
    queue.redis.llen(queue.toKey('wait')),
  ]);
  return rank === null ? null : rank + front;
}

/** Null where the job may stay as it is. */
async function ask(
  queue: ExportQueue,
  { key, organizationId }: ExportJob,
  jobClass: JobClass,
  waiter: string,
): Promise<{ priority: number; waits: boolean } | null> {
  const keys = [cancelKey(queue, key), waitersKey(queue, key)];
  const details = [queue.toKey(''), key, organizationId, jobClass.name, waiter];
  const [priority, waits] = (await queue.redis.eval(askScript, keys.length, ...keys, ...details)) as number[];
  return priority === undefined ? null : { priority, waits: waits === 1 };
}
