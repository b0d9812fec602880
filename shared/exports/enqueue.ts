import { randomUUID } from 'node:crypto';
import { LecternError } from '../platform/errors.ts';
import type { ExportJob } from './jobs.ts';
import type { ExportQueue } from './queues.ts';
import { listExport } from './recent.ts';

/** The maximum number of an organization's open exports: those that wait or run. Each takes memory of Redis. */
const maxOpenExports = 2000;
/** The maximum number of waiting pre-builds of all organizations. */
const maxWaitingPrebuilds = 2000;

/** BullMQ starts jobs with lower numbers first: pre-builds after all exports that a request has asked for. */
export const prebuildPriority = maxOpenExports + 1;

const dayMs = 24 * 3_600_000;
const retrySeconds = 10;

/**
 * Ensures that a job for this archive waits or runs, and raises a pre-build to the priority of a request.
 *
 * The priority is the number of the organization's open exports. Organizations with few exports thus come before those
 * with many; `startUpkeep` keeps the latter from waiting forever.
 *
 * @returns the id of the job, which concurrent callers share.
 * @throws {LecternError} TOO_MANY_REQUESTS if {@link maxOpenExports} of the organization wait.
 * @throws when Redis does not respond.
 */
export async function enqueueExport(queue: ExportQueue, job: ExportJob): Promise<string> {
  const priority = await countOpenExports(queue, job);
  const added = await add(queue, job, priority);
  const stored = await queue.getJob(added);
  if (stored !== undefined && isPrebuild(stored)) await stored.changePriority({ priority });
  return added;
}

/**
 * Queues an archive to be built while no export waits that a request has asked for. If too many pre-builds wait, it does
 * nothing: the first request for the archive builds it.
 */
export async function enqueuePrebuild(queue: ExportQueue, job: ExportJob): Promise<void> {
  const { [prebuildPriority]: waiting = 0 } = await queue.getCountsPerPriority([prebuildPriority]);
  if (waiting < maxWaitingPrebuilds) await add(queue, job, prebuildPriority);
}

/** Returns whether no request has asked for a job's archive yet. */
export function isPrebuild({ priority }: { priority?: number }): boolean {
  return priority === prebuildPriority;
}

/** Removes an export from the open ones of its organization. */
export async function closeExport(queue: ExportQueue, { organizationId, key }: ExportJob): Promise<void> {
  await queue.redis.zrem(openExportsKey(queue, organizationId), key);
}

/** Adds an export to the open ones of its organization, and returns their number. */
async function countOpenExports(queue: ExportQueue, { organizationId, key }: ExportJob): Promise<number> {
  const open = openExportsKey(queue, organizationId);
  const now = Date.now();
  const [, isNew, count] = await Promise.all([
    // The jobs of these were lost.
    queue.redis.zremrangebyscore(open, 0, now - dayMs),
    queue.redis.zadd(open, 'NX', now, key),
    queue.redis.zcard(open),
    queue.redis.pexpire(open, dayMs),
  ]);
  if (Number(isNew) === 0 || count <= maxOpenExports) return Math.min(count, maxOpenExports);
  await queue.redis.zrem(open, key);
  const message = `${maxOpenExports} exports of your organization are waiting; try again in ${retrySeconds} seconds`;
  throw new LecternError('TOO_MANY_REQUESTS', message, { retryAfterSeconds: retrySeconds });
}

function openExportsKey(queue: ExportQueue, organizationId: string): string {
  return queue.ownKey(`open:${organizationId}`);
}

/**
 * Adds a job unless one for the same archive is open; returns the id of that job.
 *
 * Each job has its own id: BullMQ would ignore another job under the id of one that has ended.
 */
async function add(queue: ExportQueue, job: ExportJob, priority: number): Promise<string> {
  const jobId = `${job.key}-${randomUUID()}`;
  const options = { jobId, priority, deduplication: { id: job.key } };
  let added = await queue.add('export', job, options);
  if (added.id !== jobId && (await added.getState()) === 'unknown') {
    // Redis has lost the job and kept its deduplication.
    await added.removeDeduplicationKey();
    added = await queue.add('export', job, options);
  }
  if (added.id === jobId) await listExport(queue, job, jobId);
  return added.id ?? jobId;
}
