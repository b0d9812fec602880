import type { Redis } from 'ioredis';

/** The export queue's keys, for what BullMQ does not do itself: an ExportQueue, or a worker with its connection. */
export interface QueueAccess {
  redis: Redis;
  /** The key of a part of the queue; the prefix of all of them for ''. */
  toKey(part: string): string;
}

/** Set while a job that is under way shall stop. */
export function cancelKey(queue: QueueAccess, jobKey: string): string {
  return queue.toKey(`cancel:${jobKey}`);
}

/** Who waits for a job: a sorted set of their ids, by the second at which each counts as gone. */
export function waitersKey(queue: QueueAccess, jobKey: string): string {
  return queue.toKey(`waiters:${jobKey}`);
}
