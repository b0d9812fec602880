import type { QueueEvents } from 'bullmq';

/** Wakes those who wait for a job when it ends, from one listener a process, however many wait. */
export class JobWaiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(events: QueueEvents) {
    events.on('completed', ({ jobId }) => this.#wake(jobId));
    events.on('failed', ({ jobId }) => this.#wake(jobId));
  }

  /**
   * Resolves when the job ended, or after `milliseconds`: an event may have come before anyone listened, or be lost
   * with Redis, so whoever waits looks again now and then.
   *
   * @throws the signal's reason when it is aborted.
   */
  async next(jobId: string, milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const waiting = this.#waiting.get(jobId) ?? new Set();
    this.#waiting.set(jobId, waiting);
    let wake: () => void = () => undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve) => {
        wake = resolve;
        waiting.add(wake);
        timer = setTimeout(wake, milliseconds);
        signal.addEventListener('abort', wake);
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      waiting.delete(wake);
      if (waiting.size === 0 && this.#waiting.get(jobId) === waiting) this.#waiting.delete(jobId);
    }
    signal.throwIfAborted();
  }

  #wake(jobId: string): void {
    for (const wake of this.#waiting.get(jobId) ?? []) wake();
  }
}
