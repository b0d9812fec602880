import pLimit from 'p-limit';
import { tooMany } from '../http/retry-after.ts';

/** Limits expensive work of this process: a few tasks run at once, a few more wait, and further ones get 429. */
export class BoundedQueue {
  readonly #limit;
  readonly #maxWaiting: number;

  constructor({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }) {
    this.#limit = pLimit(concurrency);
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs a task when its turn comes.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS at once while the queue is full; the signal's reason if it is aborted before
   * the task begins.
   */
  run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#limit.pendingCount >= this.#maxWaiting) {
      return Promise.reject(tooMany('Too many requests of this kind at once'));
    }
    return this.#limit(() => {
      signal.throwIfAborted();
      return task();
    });
  }
}
