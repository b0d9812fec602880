import type { QueueEvents } from 'bullmq';
import { onAbort } from '../../shared/platform/abort-listeners.ts';

/** A job has ended. */
const ends = ['completed', 'failed'] as const;

/** A job is somewhere else than before, or further on. */
const changes = [...ends, 'waiting', 'delayed', 'active', 'progress', 'removed'] as const;

/** How long what was found of a job is as good as looking again, where nothing has happened to it since. */
const freshMilliseconds = 1_000;

interface OfJob {
  jobId: string;
}

/** Tells those who wait for a job what happens to it, from one listener a process, however many wait. */
export class JobWaiters {
  readonly #forEnds = new Map<string, Set<JobWaiter>>();
  readonly #forChanges = new Map<string, Set<JobWaiter>>();
  readonly #looks = new Map<string, Promise<unknown>>();

  constructor(events: Pick<QueueEvents, 'on'>) {
    for (const event of ends) events.on(event, (job: OfJob) => tell(this.#forEnds, job));
    for (const event of changes) {
      events.on(event, (job: OfJob) => {
        this.#looks.delete(job.jobId);
        tell(this.#forChanges, job);
      });
    }
  }

  /** Hears of the ends of a job from now on, until closed. Listen first and look then, and no end is missed. */
  listen(jobId: string): JobWaiter {
    return add(this.#forEnds, jobId);
  }

  /** As {@link listen}, of all that changes: its progress, too. */
  watch(jobId: string): JobWaiter {
    return add(this.#forChanges, jobId);
  }

  /**
   * What one look at a job finds, for all who look within a second: none that something happened after.
   *
   * @param look the same for all who look at a job.
   */
  look<T>(jobId: string, look: () => Promise<T>): Promise<T> {
    const known = this.#looks.get(jobId);
    if (known !== undefined) return known as Promise<T>;
    const found = look();
    this.#looks.set(jobId, found);
    const forget = () => {
      if (this.#looks.get(jobId) === found) this.#looks.delete(jobId);
    };
    found.catch(forget);
    setTimeout(forget, freshMilliseconds).unref();
    return found;
  }
}

function add(waiters: Map<string, Set<JobWaiter>>, jobId: string): JobWaiter {
  const waiting = waiters.get(jobId) ?? new Set();
  waiters.set(jobId, waiting);
  const waiter = new JobWaiter(() => {
    waiting.delete(waiter);
    if (waiting.size === 0 && waiters.get(jobId) === waiting) waiters.delete(jobId);
  });
  waiting.add(waiter);
  return waiter;
}

function tell(waiters: Map<string, Set<JobWaiter>>, { jobId }: OfJob): void {
  for (const waiter of waiters.get(jobId) ?? []) waiter.tell();
}

/** One who waits for a job. */
export class JobWaiter {
  readonly close: () => void;
  /** Something that nobody has waited for yet. */
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
   * Resolves when something happened, at once if it did since the last call, or after `milliseconds`: an event may be
   * lost with Redis, so whoever waits looks again now and then.
   *
   * @throws the signal's reason when it is aborted.
   */
  async next(milliseconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#told) {
      const stopListening = onAbort(signal, () => this.#wake());
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, milliseconds);
      });
      clearTimeout(timer);
      stopListening();
    }
    this.#told = false;
    signal.throwIfAborted();
  }
}
