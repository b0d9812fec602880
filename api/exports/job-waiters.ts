import type { QueueEvents } from 'bullmq';

/** Tells those who wait for a job when it ends, from one listener a process, however many wait. */
export class JobWaiters {
  readonly #waiting = new Map<string, Set<JobWaiter>>();

  constructor(events: Pick<QueueEvents, 'on'>) {
    events.on('completed', ({ jobId }) => this.#tell(jobId));
    events.on('failed', ({ jobId }) => this.#tell(jobId));
  }

  /** Hears of the ends of a job from now on, until closed. Listen first and look then, and no end is missed. */
  listen(jobId: string): JobWaiter {
    const waiting = this.#waiting.get(jobId) ?? new Set();
    this.#waiting.set(jobId, waiting);
    const waiter = new JobWaiter(() => {
      waiting.delete(waiter);
      if (waiting.size === 0 && this.#waiting.get(jobId) === waiting) this.#waiting.delete(jobId);
    });
    waiting.add(waiter);
    return waiter;
  }

  #tell(jobId: string): void {
    for (const waiter of this.#waiting.get(jobId) ?? []) waiter.tell();
  }
}

/** One who waits for a job. */
export class JobWaiter {
  readonly close: () => void;
  /** An end that nobody has waited for yet. */
  #told = false;
  #wake: () => void = () => undefined;

  constructor(close: () => void) {
    this.close = close;
  }

  tell(): void {
    this.#told = true;
    this.#wake();
  }

  /**
   * Resolves when the job ended, at once if it did since the last call, or after `milliseconds`: an event may be lost
   * with Redis, so whoever waits looks again now and then.
   *
   * @throws the signal's reason when it is aborted.
   */
  async next(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#told) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, milliseconds);
        signal.addEventListener('abort', this.#wake);
      });
      clearTimeout(timer);
      signal.removeEventListener('abort', this.#wake);
    }
    this.#told = false;
    signal.throwIfAborted();
  }
}
