import pLimit, { type LimitFunction } from 'p-limit';

/** Lets a number of tasks run at once for each host. Hosts that nobody asks for take no memory. */
export class HostLimiter {
  readonly #concurrency: number;
  readonly #limits = new Map<string, LimitFunction>();

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** How many hosts have tasks that run or wait. */
  get size(): number {
    return this.#limits.size;
  }

  /**
   * Runs a task once the host has a free slot. An abort ends the wait at once with the signal's reason; a task that
   * has begun has to heed the signal itself.
   */
  run<T>(host: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const limit = this.#limits.get(host) ?? pLimit(this.#concurrency);
    this.#limits.set(host, limit);
    return new Promise<T>((resolve, reject) => {
      const giveUp = () => reject(signal.reason as Error);
      signal.addEventListener('abort', giveUp, { once: true });
      limit(async () => {
        signal.removeEventListener('abort', giveUp);
        try {
          signal.throwIfAborted();
          return await task();
        } finally {
          // This task still counts as running here.
          if (limit.activeCount === 1 && limit.pendingCount === 0) this.#limits.delete(host);
        }
      }).then(resolve, reject);
    });
  }
}
