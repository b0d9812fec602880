import { onAbort } from './abort-listeners.ts';
import { LecternError } from './errors.ts';

/** How many requests of an organization wait for its work, and how long. Longer waits would fill the process with them. */
export const requestWait = { waiting: 20, maxWaitMs: 2000 };

export interface WaitLimits {
  /** The work of an owner that waits; unlimited by default. */
  waiting?: number;
  /** The longest wait for a place, of the owner and again of the process; unlimited by default. */
  maxWaitMs?: number;
}

export interface ConcurrencyLimits extends WaitLimits {
  /** The work of an owner that runs at once. */
  concurrent: number;
  /** The work of all owners that runs at once; unlimited by default. */
  inAll?: number;
  /** Why work is refused: a sentence without its period. */
  refusal?: string;
  /** The `Retry-After` of refused work. */
  retryAfterSeconds?: number;
}

/** The work of one owner. */
interface Work {
  running: number;
  /** In order of arrival. */
  waiting: Set<() => void>;
}

/**
 * Limits the concurrent work of each owner in this process: an organization, a learner or an IP address. A burst of one
 * owner therefore does not occupy the process. Work above the limit waits in order of arrival, in a bounded queue.
 * Nothing else schedules owners in a process.
 */
export class ConcurrencyLimit {
  readonly #limits: Required<Omit<ConcurrencyLimits, 'inAll'>>;
  readonly #work = new Map<string, Work>();
  /** Work that has a place of its owner waits here for one of the process. */
  readonly #inAll: ConcurrencyLimit | null;

  constructor({
    concurrent,
    inAll,
    waiting = Infinity,
    maxWaitMs = Infinity,
    refusal = 'Too many requests of this kind at once',
    retryAfterSeconds = 10,
  }: ConcurrencyLimits) {
    const texts = { refusal, retryAfterSeconds };
    this.#limits = { concurrent, waiting, maxWaitMs, ...texts };
    this.#inAll =
      inAll === undefined ? null : new ConcurrencyLimit({ concurrent: inAll, maxWaitMs, ...texts });
  }

  /**
   * Runs a task once the owner is below the limit.
   *
   * @param signal ends the wait with its reason; a running task must handle it itself.
   * @throws as {@link begin}, and the errors of the task.
   */
  async run<T>(owner: string, signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    const end = await this.begin(owner, signal);
    try {
      return await task();
    } finally {
      end();
    }
  }

  /**
   * Begins work once the owner and the process are below their limits. Returns the function that ends it.
   *
   * @param signal ends the wait with its reason.
   * @param wait replaces the limits of waiting for this work.
   * @throws {LecternError} TOO_MANY_REQUESTS when the queue is full or the wait takes too long.
   */
  async begin(owner: string, signal: AbortSignal | undefined, wait: WaitLimits = {}): Promise<() => void> {
    signal?.throwIfAborted();
    const work = this.#work.get(owner) ?? { running: 0, waiting: new Set() };
    this.#work.set(owner, work);
    if (work.running < this.#limits.concurrent) work.running += 1;
    else await this.#wait(work, signal, { ...this.#limits, ...wait });
    let hasEnded = false;
    const end = () => {
      if (!hasEnded) this.#end(owner, work);
      hasEnded = true;
    };
    if (this.#inAll === null) return end;
    try {
      const endInAll = await this.#inAll.begin('', signal, { ...wait, waiting: Infinity });
      return () => {
        endInAll();
        end();
      };
    } catch (error) {
      end();
      throw error;
    }
  }

  #end(owner: string, work: Work): void {
    const [next] = work.waiting;
    if (next === undefined) {
      work.running -= 1;
      if (work.running === 0) this.#work.delete(owner);
      return;
    }
    // It takes the place of the ended work.
    work.waiting.delete(next);
    next();
  }

  async #wait(
    { waiting }: Work,
    signal: AbortSignal | undefined,
    { waiting: maxWaiting, maxWaitMs }: Required<WaitLimits>,
  ): Promise<void> {
    if (waiting.size >= maxWaiting) throw this.#refusal();
    let stopWaiting = (): void => undefined;
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve);
      const stopListening = signal && onAbort(signal, () => reject(signal.reason as Error));
      const late = () => reject(this.#refusal());
      const timer = maxWaitMs === Infinity ? undefined : setTimeout(late, maxWaitMs);
      stopWaiting = () => {
        waiting.delete(resolve);
        stopListening?.();
        clearTimeout(timer);
      };
    }).finally(() => stopWaiting());
  }

  #refusal(): LecternError {
    const { refusal, retryAfterSeconds } = this.#limits;
    const message = `${refusal}; try again in ${retryAfterSeconds} seconds`;
    return new LecternError('TOO_MANY_REQUESTS', message, { retryAfterSeconds });
  }
}
