import { onAbort } from './abort-listeners.ts';

/** The work of one owner. */
interface Work {
  running: number;
  /** Each starts waiting work; in the order of arrival. */
  waiting: Set<() => void>;
}

export interface ConcurrencyLimits {
  /** The work of one owner that runs at once. */
  concurrent: number;
  /** The maximum of an owner's waiting work; unlimited by default. */
  waiting?: number;
  /** How long {@link ConcurrencyLimit.begin} waits. */
  maxWaitMs?: number;
}

/**
 * Limits the concurrent work of each owner in this process: of an organization, a learner or an IP address. A burst of
 * one owner therefore does not occupy the process. Work above the limit waits, in the order of arrival.
 */
export class ConcurrencyLimit {
  readonly #limits: Required<ConcurrencyLimits>;
  readonly #work = new Map<string, Work>();

  constructor(limits: ConcurrencyLimits) {
    this.#limits = { waiting: Infinity, maxWaitMs: 2000, ...limits };
  }

  /** Begins work if the owner is below the limit. Returns the function that ends it; null above the limit. */
  tryBegin(owner: string): (() => void) | null {
    const work = this.#work.get(owner) ?? { running: 0, waiting: new Set() };
    if (work.running >= this.#limits.concurrent) return null;
    work.running += 1;
    this.#work.set(owner, work);
    return this.#endOf(owner, work);
  }

  /** Like {@link tryBegin}, but waits briefly for other work of the owner to end. */
  async begin(owner: string): Promise<(() => void) | null> {
    const begun = this.tryBegin(owner);
    const waiting = this.#work.get(owner)?.waiting.size ?? 0;
    if (begun !== null || waiting >= this.#limits.waiting) return begun;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#limits.maxWaitMs);
    try {
      return await this.#waitFor(owner, timeout.signal);
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Runs a task once the owner is below the limit.
   *
   * @param signal ends the wait with its reason; a running task must handle it itself.
   */
  async run<T>(owner: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const end = this.tryBegin(owner) ?? (await this.#waitFor(owner, signal));
    try {
      return await task();
    } finally {
      end();
    }
  }

  /** Ended work passes its slot on. */
  #endOf(owner: string, work: Work): () => void {
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const [next] = work.waiting;
      if (next !== undefined) next();
      else if (--work.running === 0) this.#work.delete(owner);
    };
  }

  /** Waits until ended work passes its slot on. Rejects with the reason of the signal. */
  async #waitFor(owner: string, signal: AbortSignal): Promise<() => void> {
    const work = this.#work.get(owner) ?? { running: 1, waiting: new Set() };
    let stopListening = (): void => undefined;
    await new Promise<void>((resolve, reject) => {
      const start = () => {
        work.waiting.delete(start);
        resolve();
      };
      work.waiting.add(start);
      stopListening = onAbort(signal, () => {
        work.waiting.delete(start);
        reject(signal.reason as Error);
      });
    }).finally(() => stopListening());
    return this.#endOf(owner, work);
  }
}
