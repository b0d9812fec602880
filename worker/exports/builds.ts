import { BuildCancelled } from '../../shared/exports/cancel.ts';

/** Stops a build because its process shuts down. Its job goes back to the queue. */
export class BuildRequeued extends Error {
  override readonly name = 'BuildRequeued';

  constructor() {
    super('the process shuts down');
  }
}

/** Stops a build to free its slot for an organization without a running build. */
export class BuildPreempted extends Error {
  override readonly name = 'BuildPreempted';

  constructor() {
    super('another organization needs the slot');
  }
}

/** Stops a build whose job another worker may have taken. This worker leaves the job unchanged. */
export class JobLockLost extends Error {
  override readonly name = 'JobLockLost';

  constructor() {
    super('the lock was lost');
  }
}

interface RunningBuild {
  organizationId: string;
  startedAt: number;
  stop: AbortController;
  done: Promise<unknown>;
}

/** The running builds of this process, and how to stop them. */
export class Builds {
  readonly #running = new Map<string, RunningBuild>();
  /** Called when all builds go back to the queue. */
  readonly #onRequeue = new Set<(reason: BuildRequeued) => void>();
  #requeued: BuildRequeued | null = null;

  get size(): number {
    return this.#running.size;
  }

  /** Returns the keys of the running jobs. */
  keys(): string[] {
    return [...this.#running.keys()];
  }

  list(): { key: string; organizationId: string; ageMs: number }[] {
    const now = performance.now();
    return [...this.#running].map(([key, { organizationId, startedAt }]) => {
      return { key, organizationId, ageMs: now - startedAt };
    });
  }

  /**
   * Runs the build of a job.
   *
   * @throws the reason for which the build was stopped, otherwise the error of the build.
   */
  async run<T>(
    { key, organizationId }: { key: string; organizationId: string },
    build: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const stop = new AbortController();
    const running = { organizationId, startedAt: performance.now(), stop, done: build(stop.signal) };
    this.#running.set(key, running);
    try {
      return await running.done;
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : error;
    } finally {
      if (this.#running.get(key) === running) this.#running.delete(key);
    }
  }

  /**
   * Settles as a build does, or rejects with {@link BuildRequeued} as soon as all builds go back to the queue.
   *
   * Promise.race with a promise that settles at shutdown would keep some memory of every build.
   */
  async untilRequeued<T>(build: Promise<T>): Promise<T> {
    let requeue: (reason: BuildRequeued) => void = () => undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        requeue = reject;
        this.#onRequeue.add(requeue);
        build.then(resolve, reject);
        if (this.#requeued !== null) reject(this.#requeued);
      });
    } finally {
      this.#onRequeue.delete(requeue);
    }
  }

  stop(key: string, reason: Error): void {
    this.#running.get(key)?.stop.abort(reason);
  }

  cancel(key: string): void {
    this.stop(key, new BuildCancelled());
  }

  /** Frees the slot of a build for another organization. */
  preempt(key: string): void {
    this.stop(key, new BuildPreempted());
  }

  /** Sends all builds back to the queue, including builds that start later. */
  requeueAll(): void {
    const reason = new BuildRequeued();
    this.#requeued = reason;
    for (const requeue of this.#onRequeue) requeue(reason);
    for (const key of this.keys()) this.stop(key, reason);
  }

  /** Resolves when all builds that are running now have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }
}
