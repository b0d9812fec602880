import type { QueueEvents } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../shared/platform/cache-size.ts';
import { exportKeyOfJob } from '../../shared/exports/queues.ts';

/** Requests need no event for anything else: they also poll. */
const events = ['active', 'completed', 'failed', 'removed'] as const;

/** How often requests poll. Redis may lose events. */
const pollIntervalMs = 1_500;

/** The number of watched exports. With more, requests poll more often. */
const maxWatched = 10_000;

/** Tells requests when a job of their export starts or ends. */
export class ExportChanges {
  /** The end of an entry resolves its promise. */
  readonly #next = new LRUCache<string, { promise: Promise<void>; resolve: () => void }>({
    ...{ ...atMost(maxWatched), ttl: pollIntervalMs, ttlAutopurge: true },
    dispose: ({ resolve }) => resolve(),
  });

  constructor(queueEvents: Pick<QueueEvents, 'on'>) {
    for (const event of events) {
      queueEvents.on(event, ({ jobId }: { jobId: string }) => void this.#next.delete(exportKeyOfJob(jobId)));
    }
  }

  /**
   * Returns a promise that resolves at the next change, and after 1.5 seconds at the latest. Get it before you read the
   * job, so that you miss no change.
   */
  next(exportKey: string): Promise<void> {
    const watched = this.#next.get(exportKey);
    if (watched !== undefined) return watched.promise;
    let resolve = () => {};
    const promise = new Promise<void>((done) => (resolve = done));
    this.#next.set(exportKey, { promise, resolve });
    return promise;
  }
}
