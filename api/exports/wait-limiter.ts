import { tooMany } from '../http/retry-after.ts';

/**
 * Requests of this process that wait for exports, each with a connection and looks at Redis now and then: counted, so
 * that one organization cannot take all there is.
 */
export class OpenWaits {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  /** @param most of one organization at once. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Counts a request until the function that it gives is called.
   *
   * @throws {LecternError} TOO_MANY_REQUESTS when as many of the organization wait as may.
   */
  begin(organizationId: string): () => void {
    const open = this.#open.get(organizationId) ?? 0;
    if (open >= this.#most) throw tooMany('Too many requests wait for exports');
    this.#open.set(organizationId, open + 1);
    return () => {
      const left = (this.#open.get(organizationId) ?? 0) - 1;
      if (left > 0) this.#open.set(organizationId, left);
      else this.#open.delete(organizationId);
    };
  }
}
