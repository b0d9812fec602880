import type { ListPosition } from '../models/newest-first.ts';
import { cancelledReason, fromFailedReason, progressOf } from './jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from './jobs.ts';
import type { ExportQueue, QueuedExport } from './queues.ts';

/*
 * Lists of the exports of the last day, in Redis beside the queue: BullMQ cannot list an organization's jobs. If they are
 * lost, the archives are not.
 */

/** How many exports are listed of an organization, and of all. */
const kept = { organization: 1000, all: 5000 };
const keptMs = 24 * 3_600_000;

/** Reads jobs in batches of this size, and at most so many for a page. */
const batchSize = 100;
const maxRead = 300;

export const recentStatuses = ['queued', 'building', 'ready', 'failed', 'canceled'] as const;
export type RecentStatus = (typeof recentStatuses)[number];

export interface RecentExport {
  /** The id of its job. */
  id: string;
  job: ExportJob;
  status: RecentStatus;
  progress: ExportProgress;
  /** Null until it is ready. */
  result: ExportResult | null;
  /** Null unless it failed. For callers, only the message of an error with `expose`. */
  error: ReturnType<typeof fromFailedReason> | null;
  requestedAt: Date;
  endedAt: Date | null;
}

export interface RecentSelection {
  /** Null for all organizations. */
  organizationId: string | null;
  lessonId?: string | undefined;
  status?: RecentStatus | undefined;
}

function listKey(queue: ExportQueue, organizationId: string | null): string {
  return queue.ownKey(`recent:${organizationId ?? 'all'}`);
}

/** Adds a new job to the lists. */
export async function listExport(
  queue: ExportQueue,
  { organizationId }: ExportJob,
  jobId: string,
): Promise<void> {
  const lists = [
    [listKey(queue, organizationId), kept.organization],
    [listKey(queue, null), kept.all],
  ] as const;
  const now = Date.now();
  await Promise.all(
    lists.flatMap(([key, count]) => [
      queue.redis.zadd(key, now, jobId),
      queue.redis.zremrangebyscore(key, 0, now - keptMs),
      queue.redis.zremrangebyrank(key, 0, -count - 1),
      queue.redis.pexpire(key, keptMs),
    ]),
  );
}

/** Returns a page of exports, the newest first, and the position of the next page; null at the end. */
export async function recentExports(
  queue: ExportQueue,
  selection: RecentSelection,
  { limit, after }: { limit: number; after: ListPosition | null },
): Promise<{ exports: RecentExport[]; next: ListPosition | null }> {
  const key = listKey(queue, selection.organizationId);
  const exports: RecentExport[] = [];
  let next: ListPosition | null = null;
  const newest = after?.createdAt.getTime() ?? '+inf';
  for (let offset = 0; offset < maxRead; offset += batchSize) {
    const found = await queue.redis.zrevrangebyscore(
      key,
      newest,
      '-inf',
      'WITHSCORES',
      'LIMIT',
      offset,
      batchSize,
    );
    const listed = pairsOf(found);
    const read = await readExports(
      queue,
      listed.map(({ id }) => id),
    );
    for (const [index, { id, createdAt }] of listed.entries()) {
      // Redis orders equal times by id, too.
      if (after !== null && createdAt.getTime() === newest && id >= after.id) continue;
      const recent = read[index] ?? null;
      if (recent !== null && matches(recent, selection)) {
        if (exports.length === limit) return { exports, next };
        exports.push(recent);
      }
      next = { createdAt, id };
    }
    if (listed.length < batchSize) return { exports, next: null };
  }
  return { exports, next };
}

/** Returns an export of the lists; null if it is unknown, or another organization's. */
export async function findRecentExport(
  queue: ExportQueue,
  organizationId: string,
  id: string,
): Promise<RecentExport | null> {
  const [found = null] = await readExports(queue, [id]);
  return found?.job.organizationId === organizationId ? found : null;
}

/** A job that was canceled before a worker took it, and has left the queue. */
interface CanceledJob {
  data: ExportJob;
  timestamp: number;
  canceledAt: number;
}

/** Keeps a canceled job, which the queue no longer has, for the lists. */
export async function keepCanceled(
  queue: ExportQueue,
  id: string,
  { data, timestamp }: Pick<QueuedExport, 'data' | 'timestamp'>,
): Promise<void> {
  const canceled: CanceledJob = { data, timestamp, canceledAt: Date.now() };
  await queue.redis.set(canceledKey(queue, id), JSON.stringify(canceled), 'PX', keptMs);
}

function canceledKey(queue: ExportQueue, id: string): string {
  return queue.ownKey(`canceled:${id}`);
}

/** Returns exports by the ids of their jobs; null for those that are unknown. */
async function readExports(queue: ExportQueue, ids: readonly string[]): Promise<(RecentExport | null)[]> {
  if (ids.length === 0) return [];
  const [jobs, canceled] = await Promise.all([
    Promise.all(ids.map((id) => queue.getJob(id))),
    queue.redis.mget(ids.map((id) => canceledKey(queue, id))),
  ]);
  return ids.map((id, index) => {
    const [job, text = null] = [jobs[index], canceled[index]];
    if (job !== undefined) return toRecent(id, job);
    return text === null ? null : toCanceled(id, JSON.parse(text) as CanceledJob);
  });
}

function toCanceled(id: string, { data, timestamp, canceledAt }: CanceledJob): RecentExport {
  return {
    ...{ id, job: data, status: 'canceled', result: null, error: null },
    progress: { done: 0, total: 0, bytes: 0 },
    requestedAt: new Date(timestamp),
    endedAt: new Date(canceledAt),
  };
}

function toRecent(id: string, job: QueuedExport): RecentExport {
  const { data, failedReason, finishedOn, timestamp, returnvalue } = job;
  const status = statusOf(job);
  return {
    ...{ id, job: data, status, progress: progressOf(job) },
    result: status === 'ready' ? returnvalue : null,
    error: status === 'failed' ? fromFailedReason(failedReason) : null,
    requestedAt: new Date(timestamp),
    endedAt: finishedOn === undefined ? null : new Date(finishedOn),
  };
}

function statusOf({ failedReason, finishedOn, processedOn }: QueuedExport): RecentStatus {
  if (finishedOn === undefined) return processedOn === undefined ? 'queued' : 'building';
  if (failedReason === cancelledReason) return 'canceled';
  return failedReason ? 'failed' : 'ready';
}

function matches({ job, status }: RecentExport, selection: RecentSelection): boolean {
  return (
    (selection.lessonId === undefined || job.lessonId === selection.lessonId) &&
    (selection.status === undefined || status === selection.status)
  );
}

/** Parses the reply to `WITHSCORES`: ids and times in turn. */
function pairsOf(reply: string[]): { id: string; createdAt: Date }[] {
  return Array.from({ length: reply.length / 2 }, (_, index) => ({
    id: reply[2 * index] ?? '',
    createdAt: new Date(Number(reply[2 * index + 1])),
  }));
}
