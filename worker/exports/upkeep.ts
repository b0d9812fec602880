import { isPrebuild } from '../../shared/exports/enqueue.ts';
import { ExportQueue } from '../../shared/exports/queues.ts';
import type { QueuedExport } from '../../shared/exports/queues.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { repeat } from '../../shared/platform/repeat.ts';
import type { Repetition } from '../../shared/platform/repeat.ts';

const intervalMs = 60_000;
const pageSize = 500;
const unusedMs = 24 * 3_600_000;

/** Keeps the export queue in order every minute, in one of the workers. */
export function startUpkeep(
  queue: ExportQueue,
  { config, log }: { config: Pick<Config, 'redisPrefix'>; log: Logger },
): Repetition {
  const turn = queue.ownKey(`upkeep:${queue.name}`);
  return repeat(
    async (signal) => {
      const isMine = await queue.redis.set(turn, '1', 'PX', intervalMs / 2, 'NX');
      if (isMine === null) return;
      await raiseOldest(queue, signal);
      await removeUnusedQueues(queue, config);
    },
    intervalMs,
    (error, isFirst) => isFirst && log.warn({ err: error }, 'the upkeep of the export queue failed'),
  );
}

/** Lets the oldest waiting export of each organization start next, before any that were requested later. */
export async function raiseOldest(queue: ExportQueue, signal: AbortSignal): Promise<void> {
  const oldest = new Map<string, QueuedExport>();
  for (let start = 0; !signal.aborted; start += pageSize) {
    const jobs = await queue.getPrioritized(start, start + pageSize - 1);
    for (const job of jobs) {
      const known = oldest.get(job.data.organizationId);
      if (!isPrebuild(job) && (known === undefined || job.timestamp < known.timestamp))
        oldest.set(job.data.organizationId, job);
    }
    if (jobs.length < pageSize) break;
  }
  for (const job of oldest.values()) if (job.priority > 1) await job.changePriority({ priority: 1 });
}

/** Removes the queues of other archive formats that no worker has served for a day. */
export async function removeUnusedQueues(
  queue: ExportQueue,
  config: Pick<Config, 'redisPrefix'>,
  now = Date.now(),
): Promise<void> {
  const served = queue.ownKey('queues');
  await queue.redis.zadd(served, now, queue.name);
  for (const name of await queue.redis.zrangebyscore(served, 0, now - unusedMs)) {
    const unused = new ExportQueue(queue.redis, config, name);
    await unused.obliterate({ force: true });
    await unused.close();
    await queue.redis.zrem(served, name);
  }
}
