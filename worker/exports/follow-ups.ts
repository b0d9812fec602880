import type { Logger } from '../../shared/platform/log.ts';

/** The follow-ups that wait. Each holds what its build has resolved, and a slow store must not pile them up. */
const maxWaiting = 4;

/**
 * Work that follows builds, one after the other, so that no archive waits for it. It is left out while too much waits:
 * later builds repeat what it would have saved.
 */
export class FollowUps {
  readonly #log: Logger;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();
  /** The running work and the waiting work. */
  #open = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  run(work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#open > maxWaiting) return;
    this.#open += 1;
    this.#last = this.#last.then(() => this.#finish(work)).finally(() => (this.#open -= 1));
  }

  /** Stops the work. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('this process is shutting down'));
    await this.#last;
  }

  async #finish(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      this.#stop.signal.throwIfAborted();
      await work(this.#stop.signal);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#log.warn({ err: error }, 'downloads are not kept for later builds');
    }
  }
}
