import pLimit from 'p-limit';
import { tooMany } from '../http/retry-after.ts';

/** Work that takes much of a process: a little of it at once, a short line behind it, and the rest comes later. */
export class ShortLine {
  readonly #limit;
  readonly #waiting: number;

  /**
   * @param lengths.atOnce how much work is under way at once.
   * @param lengths.waiting how much more may wait for its turn.
   */
  constructor({ atOnce, waiting }: { atOnce: number; waiting: number }) {
    this.#limit = pLimit(atOnce);
    this.#waiting = waiting;
  }

  /**
   * Does some work when it is its turn.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS at once, where the line is full; the signal's reason where it is aborted
   * before the work begins.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#limit.pendingCount >= this.#waiting) {
      return Promise.reject(tooMany('Too many of these are asked for at once'));
    }
    return this.#limit(() => {
      signal.throwIfAborted();
      return work();
    });
  }
}
