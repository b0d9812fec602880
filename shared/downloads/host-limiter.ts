import pLimit, { type LimitFunction } from 'p-limit';
import { onAbort } from '../abort-listeners.ts';

interface Host {
  limit: LimitFunction;
  /** Tasks that run or wait. */
  tasks: number;
}

/** Lets a number of tasks run at once for each host. Hosts that nobody asks for take no memory. */
export class HostLimiter {
  readonly #concurrency: number;
  readonly #hosts = new Map<string, Host>();

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** How many hosts have tasks that run or wait. */
  get size(): number {
    return this.#hosts.size;
  }

  /**
   * Runs a task once the host has a free slot. An abort ends the wait at once with the signal's reason; a task that
   * has begun has to heed the signal itself.
   */
  run<T>(name: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const host = this.#hosts.get(name) ?? { limit: pLimit(this.#concurrency), tasks: 0 };
    this.#hosts.set(name, host);
    host.tasks++;
    return new Promise<T>((resolve, reject) => {
      const stopListening = onAbort(signal, () => reject(signal.reason as Error));
      host
        .limit(async () => {
          stopListening();
          try {
            signal.throwIfAborted();
            return await task();
          } finally {
            if (--host.tasks === 0) this.#hosts.delete(name);
          }
        })
        .then(resolve, reject);
    });
  }
}
