import { setTimeout as delay } from 'node:timers/promises';

const defaultDelay = { delayMs: 1000, maxDelayed: 1000 };

/**
 * Delays rejections. A client that retries as soon as it is rejected would otherwise cost the process more than one that
 * gets a response.
 */
export class DelayedRejections {
  readonly #limits: typeof defaultDelay;
  #waiting = 0;

  /** @param limits.maxDelayed how many rejections wait at once; it does not delay further ones. */
  constructor(limits = defaultDelay) {
    this.#limits = limits;
  }

  /** Resolves with the error when it is time to throw it. */
  async delayed<Rejection extends Error>(error: Rejection): Promise<Rejection> {
    if (this.#waiting >= this.#limits.maxDelayed) return error;
    this.#waiting += 1;
    await delay(this.#limits.delayMs);
    this.#waiting -= 1;
    return error;
  }
}
