/** One check runs for each organization, and the rest wait: an organization with many delays no other one. */
export class CheckQueue {
  readonly #slots: number;
  /** Waiting checks of each organization. Organizations take turns in this order. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #running = new Set<string>();

  /** @param slots checks at once. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Runs a check when it is the organization's turn.
   *
   * @throws the reason of the signal, when it is aborted before.
   */
  async run<T>(organizationId: string, check: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#turn(organizationId);
    try {
      signal?.throwIfAborted();
      return await check();
    } finally {
      this.#running.delete(organizationId);
      this.#next();
    }
  }

  #turn(organizationId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(organizationId) ?? [];
      waiting.push(resolve);
      this.#waiting.set(organizationId, waiting);
      this.#next();
    });
  }

  #next(): void {
    for (const [organizationId, waiting] of this.#waiting) {
      if (this.#running.size >= this.#slots) return;
      if (this.#running.has(organizationId)) continue;
      this.#running.add(organizationId);
      waiting.shift()?.();
      // To the end of the line, or out of it.
      this.#waiting.delete(organizationId);
      if (waiting.length > 0) this.#waiting.set(organizationId, waiting);
    }
  }
}
