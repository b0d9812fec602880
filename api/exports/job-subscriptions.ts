import type { QueueEvents } from 'bullmq';
import { onAbort } from '../../shared/platform/abort-listeners.ts';

const endEvents = ['completed', 'failed'] as const;
const changeEvents = [...endEvents, 'waiting', 'delayed', 'active', 'progress', 'removed'] as const;

/** How long a cached read of a job stays valid if no event arrives. */
const cacheMs = 1_000;

interface JobEvent {
  jobId: string;
}

/** Distributes the events of export jobs to waiting requests, with one listener for the whole process. */
export class JobSubscriptions {
  readonly #toEnds = new Map<string, Set<JobSubscription>>();
  readonly #toChanges = new Map<string, Set<JobSubscription>>();
  readonly #cache = new Map<string, Promise<unknown>>();

  constructor(events: Pick<QueueEvents, 'on'>) {
    for (const event of endEvents) events.on(event, (job: JobEvent) => notify(this.#toEnds, job));
    for (const event of changeEvents) {
      events.on(event, (job: JobEvent) => {
        this.#cache.delete(job.jobId);
        notify(this.#toChanges, job);
      });
    }
  }

  /** Subscribes to the end of a job. Subscribe before you read the job, so that you miss no event. */
  toEnd(jobId: string): JobSubscription {
    return add(this.#toEnds, jobId);
  }

  /** Subscribes to every change of a job, including its progress. */
  toChanges(jobId: string): JobSubscription {
    return add(this.#toChanges, jobId);
  }

  /**
   * Reads a job once for all callers within a second. An event of the job ends the cached result.
   *
   * @param read the same for all callers of one job.
   */
  cachedRead<T>(jobId: string, read: () => Promise<T>): Promise<T> {
    const cached = this.#cache.get(jobId);
    if (cached !== undefined) return cached as Promise<T>;
    const result = read();
    this.#cache.set(jobId, result);
    const forget = () => {
      if (this.#cache.get(jobId) === result) this.#cache.delete(jobId);
    };
    result.catch(forget);
    setTimeout(forget, cacheMs).unref();
    return result;
  }
}

function add(subscriptions: Map<string, Set<JobSubscription>>, jobId: string): JobSubscription {
  const ofJob = subscriptions.get(jobId) ?? new Set();
  subscriptions.set(jobId, ofJob);
  const subscription = new JobSubscription(() => {
    ofJob.delete(subscription);
    if (ofJob.size === 0 && subscriptions.get(jobId) === ofJob) subscriptions.delete(jobId);
  });
  ofJob.add(subscription);
  return subscription;
}

function notify(subscriptions: Map<string, Set<JobSubscription>>, { jobId }: JobEvent): void {
  for (const subscription of subscriptions.get(jobId) ?? []) subscription.notify();
}

export class JobSubscription {
  readonly close: () => void;
  /** Whether an event has arrived that no call of `next` has returned yet. */
  #notified = false;
  #wake: () => void = () => undefined;

  constructor(close: () => void) {
    this.close = close;
  }

  notify(): void {
    this.#notified = true;
    this.#wake();
  }

  /**
   * Resolves at the next event, or at once if one has arrived since the last call. Redis may lose events, so it also
   * resolves after `timeoutMs`, and callers read the job again.
   *
   * @throws the signal's reason when it is aborted.
   */
  async next(timeoutMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#notified) {
      const stopListening = onAbort(signal, () => this.#wake());
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
      stopListening();
    }
    this.#notified = false;
    signal.throwIfAborted();
  }
}
