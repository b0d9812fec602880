/** The work of one owner. */
interface Work {
  running: number;
  /** Each starts a waiting request; in the order of arrival. */
  waiting: Set<() => void>;
}

export interface ConcurrencyLimits {
  /** The work of one owner that runs at once. */
  concurrent: number;
  /** The maximum number of an owner's waiting requests. */
  waiting: number;
  /** How long a request waits at most. */
  maxWaitMs?: number;
}

/**
 * Limits the concurrent work of each owner in this process: of an organization, a learner or an IP address. A burst of
 * one owner therefore does not occupy the process. Work above the limit waits briefly, in the order of arrival.
 */
export class ConcurrencyLimit {
  readonly #limits: Required<ConcurrencyLimits>;
  readonly #work = new Map<string, Work>();

  constructor(limits: ConcurrencyLimits) {
    this.#limits = { maxWaitMs: 2000, ...limits };
  }

  /** Begins work if the owner is below the limit. Returns the function that ends it; null above the limit. */
  tryBegin(owner: string): (() => void) | null {
    const work = this.#work.get(owner) ?? { running: 0, waiting: new Set() };
    if (work.running >= this.#limits.concurrent) return null;
    work.running += 1;
    this.#work.set(owner, work);
    return this.#endOf(owner, work);
  }

  /** Like {@link tryBegin}, but waits for other work of the owner to end. */
  async begin(owner: string): Promise<(() => void) | null> {
    const end = this.tryBegin(owner);
    const work = this.#work.get(owner);
    if (end !== null || work === undefined || work.waiting.size >= this.#limits.waiting) return end;
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer);
        work.waiting.delete(start);
        resolve(this.#endOf(owner, work));
      };
      const timer = setTimeout(() => {
        work.waiting.delete(start);
        resolve(null);
      }, this.#limits.maxWaitMs);
      work.waiting.add(start);
    });
  }

  /** Ended work passes its place on. */
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
}
