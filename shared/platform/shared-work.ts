import { untilAborted } from './abort-listeners.ts';

/** Running work, with the number of its waiting callers. */
interface Work<T> {
  key: string;
  result: Promise<T>;
  stop: AbortController;
  waiting: number;
  stopping: NodeJS.Timeout | undefined;
}

/** Does work once for concurrent callers with the same key. It is stopped soon after its last caller has left. */
export class SharedWork<T> {
  readonly #graceMs: number;
  /** The work that new callers join, by key. */
  readonly #joinable = new Map<string, Work<T>>();
  readonly #running = new Set<Work<T>>();

  /** @param options.graceMs how long work continues without callers. */
  constructor({ graceMs = 0 } = {}) {
    this.#graceMs = graceMs;
  }

  /**
   * Returns the result of the work with a key. Starts it unless it is running.
   *
   * @param signal makes the caller leave. @throws its reason then; otherwise as the work.
   */
  async join(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const work = this.#joinable.get(key) ?? this.#start(key, start);
    work.waiting += 1;
    clearTimeout(work.stopping);
    try {
      return await untilAborted(work.result, signal);
    } finally {
      this.#leave(work);
    }
  }

  /** Stops all work; resolves when none is running. */
  async close(): Promise<void> {
    const running = [...this.#running];
    for (const { stop } of running) stop.abort(new Error('this process is shutting down'));
    await Promise.allSettled(running.map(({ result }) => result));
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Work<T> {
    const stop = new AbortController();
    const work: Work<T> = { key, result: start(stop.signal), stop, waiting: 0, stopping: undefined };
    this.#joinable.set(key, work);
    this.#running.add(work);
    const end = () => {
      clearTimeout(work.stopping);
      this.#running.delete(work);
      this.#unshare(work);
    };
    work.result.then(end, end);
    return work;
  }

  #leave(work: Work<T>): void {
    work.waiting -= 1;
    if (work.waiting > 0 || !this.#running.has(work)) return;
    const stop = () => {
      this.#unshare(work);
      work.stop.abort(new Error('no caller waits for this'));
    };
    if (this.#graceMs === 0) stop();
    else work.stopping = setTimeout(stop, this.#graceMs);
  }

  /** Later callers start new work. */
  #unshare(work: Work<T>): void {
    if (this.#joinable.get(work.key) === work) this.#joinable.delete(work.key);
  }
}
