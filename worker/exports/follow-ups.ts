import type { Logger } from '../../shared/platform/log.ts';

/** Work that follows builds, one after the other, so that no archive waits for it. */
export class FollowUps {
  readonly #log: Logger;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(log: Logger) {
    this.#log = log;
  }

  run(work: (signal: AbortSignal) => Promise<void>): void {
    this.#last = this.#last.then(() => this.#finish(work));
  }

  /** Stops the work: later builds repeat what it would have saved. */
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
