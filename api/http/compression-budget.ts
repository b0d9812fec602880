/** The approximate CPU time for compressing 1 MiB at the levels that responses use. */
const msPerMiB = 25;

/**
 * Limits the CPU time of compressing responses in one process. Without it, clients that request large responses would
 * take CPU time from all others. Responses over the budget are sent uncompressed.
 */
export class CompressionBudget {
  readonly #msPerSecond: number;
  readonly #burstMs: number;
  readonly #now: () => number;
  #availableMs: number;
  #updatedAt: number;

  /**
   * @param msPerSecond milliseconds of CPU time per second in the long run.
   * @param now a clock in milliseconds.
   */
  constructor(msPerSecond = 200, now: () => number = () => performance.now()) {
    this.#msPerSecond = msPerSecond;
    this.#burstMs = 2 * msPerSecond;
    this.#now = now;
    this.#availableMs = this.#burstMs;
    this.#updatedAt = now();
  }

  /** Reserves the time for a text; returns false if the budget is used up for now. */
  reserve(bytes: number): boolean {
    const now = this.#now();
    const earned = ((now - this.#updatedAt) / 1000) * this.#msPerSecond;
    this.#availableMs = Math.min(this.#burstMs, this.#availableMs + earned);
    this.#updatedAt = now;
    const cost = (bytes / 1024 ** 2) * msPerMiB;
    if (cost > this.#availableMs) return false;
    this.#availableMs -= cost;
    return true;
  }
}
