import { tooMany } from './retry-after.ts';

/**
 * Limits how many requests of each organization wait for jobs in this process. Each holds a connection and polls a
 * server.
 */
export class WaitLimiter {
  readonly #maxWaiting: number;
  readonly #waiting = new Map<string, number>();

  readonly #jobs: string;

  /**
   * @param maxWaiting for each organization.
   * @param jobs their name, for the error.
   */
  constructor(maxWaiting: number, jobs = 'exports') {
    this.#maxWaiting = maxWaiting;
    this.#jobs = jobs;
  }

  /**
   * Counts a waiting request; returns a function that ends its count.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS when the organization has reached its limit.
   */
  acquire(organizationId: string): () => void {
    const waiting = this.#waiting.get(organizationId) ?? 0;
    if (waiting >= this.#maxWaiting) throw tooMany(`Too many requests wait for ${this.#jobs}`);
    this.#waiting.set(organizationId, waiting + 1);
    return () => {
      const left = (this.#waiting.get(organizationId) ?? 0) - 1;
      if (left > 0) this.#waiting.set(organizationId, left);
      else this.#waiting.delete(organizationId);
    };
  }
}
