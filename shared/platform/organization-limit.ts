import { onAbort } from './abort-listeners.ts';

/** The work of one organization. */
interface Work {
  running: number;
  /** In order of arrival. */
  waiting: Set<() => void>;
}

/**
 * Limits the concurrent work of each organization inside a process, so that a burst of one does not occupy it. Work
 * above the limit waits in order of arrival.
 */
export class OrganizationLimit {
  readonly #concurrent: number;
  readonly #work = new Map<string, Work>();

  /** @param concurrent for each organization. */
  constructor(concurrent: number) {
    this.#concurrent = concurrent;
  }

  /**
   * Runs a task once the organization is below its limit.
   *
   * @param signal ends the wait with its reason; a running task must handle it itself.
   */
  async run<T>(organizationId: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const work = this.#work.get(organizationId) ?? { running: 0, waiting: new Set() };
    this.#work.set(organizationId, work);
    if (work.running < this.#concurrent) work.running += 1;
    else await waitIn(work, signal);
    try {
      return await task();
    } finally {
      const [next] = work.waiting;
      if (next !== undefined) next();
      else if (--work.running === 0) this.#work.delete(organizationId);
    }
  }
}

/** Resolves when ended work passes its place on. */
async function waitIn({ waiting }: Work, signal: AbortSignal): Promise<void> {
  let stopListening = (): void => undefined;
  let start = (): void => undefined;
  await new Promise<void>((resolve, reject) => {
    start = () => {
      waiting.delete(start);
      resolve();
    };
    waiting.add(start);
    stopListening = onAbort(signal, () => {
      waiting.delete(start);
      reject(signal.reason as Error);
    });
  }).finally(() => stopListening());
}
