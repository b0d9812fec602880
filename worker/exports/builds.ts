import { BuildCancelled } from '../../shared/exports/cancel.ts';

/** The process ends, and its builds go back to the queue. */
export class BuildGivenBack extends Error {
  override readonly name = 'BuildGivenBack';

  constructor() {
    super('the process ends');
  }
}

/** The build's organization has others under way, and one that has none needs the slot. */
export class BuildGaveWay extends Error {
  override readonly name = 'BuildGaveWay';

  constructor() {
    super('another organization needs the slot');
  }
}

/** Another worker may have the job: what becomes of it is no concern of this one any more. */
export class BuildLost extends Error {
  override readonly name = 'BuildLost';

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

/** The builds under way in this process, and what stops them. */
export class Builds {
  readonly #running = new Map<string, RunningBuild>();
  /** Called when all builds go back to the queue. */
  readonly #giveBacks = new Set<(reason: BuildGivenBack) => void>();
  #givenBack: BuildGivenBack | null = null;

  get size(): number {
    return this.#running.size;
  }

  /** The keys of the jobs whose builds are under way. */
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
   * @throws the reason for which the build was stopped, where it was, else what the build throws.
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
   * Settles as a build does, or rejects with {@link BuildGivenBack} as soon as all builds go back to the queue.
   *
   * Not Promise.race with a promise that settles when the process ends: that would keep something of every build.
   */
  async untilGivenBack<T>(build: Promise<T>): Promise<T> {
    let giveBack: (reason: BuildGivenBack) => void = () => undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        giveBack = reject;
        this.#giveBacks.add(giveBack);
        build.then(resolve, reject);
        if (this.#givenBack !== null) reject(this.#givenBack);
      });
    } finally {
      this.#giveBacks.delete(giveBack);
    }
  }

  stop(key: string, reason: Error): void {
    this.#running.get(key)?.stop.abort(reason);
  }

  cancel(key: string): void {
    this.stop(key, new BuildCancelled());
  }

  /** Frees the slot of a build for another organization. */
  giveWay(key: string): void {
    this.stop(key, new BuildGaveWay());
  }

  /** Gives all builds back to the queue: now, and what is started yet. */
  giveBack(): void {
    const reason = new BuildGivenBack();
    this.#givenBack = reason;
    for (const giveBack of this.#giveBacks) giveBack(reason);
    for (const key of this.keys()) this.stop(key, reason);
  }

  /** Resolves when those that are under way now have ended, well or not. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }
}
