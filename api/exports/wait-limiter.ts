import { tooMany } from '../http/retry-after.ts';

/**
 * Limits how many requests of each organization wait for exports in this process. Each holds a connection and polls
 * Redis.
 */
export class WaitLimiter {
  readonly #maxWaiting: number;
  readonly #waiting = new Map<string, number>();

  /** @param maxWaiting for each organization. */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Counts a waiting request; returns a function that ends its count.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS when the organization has reached its limit.
   */
  acquire(organizationId: string): () => void {
    const waiting = this.#waiting.get(organizationId) ?? 0;
    if (waiting >= this.#maxWaiting) throw tooMany('Too many requests wait for exports');
    this.#waiting.set(organizationId, waiting + 1);
    return () => {
      const left = (this.#waiting.get(organizationId) ?? 0) - 1;
      if (left > 0) this.#waiting.set(organizationId, left);
      else this.#waiting.delete(organizationId);
    };
  }
}
