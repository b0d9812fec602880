import { setTimeout as delay } from 'node:timers/promises';

const defaultLimits = { pauseMs: 1000, most: 1000 };

/**
 * Holds refusals back for a moment. A client that asks again as soon as it is refused would otherwise take more of the
 * process than one that is served.
 */
export class SlowRefusals {
  readonly #limits: { pauseMs: number; most: number };
  #waiting = 0;

  /** @param limits.most refusals that are held back at once; further ones are sent at once. */
  constructor(limits: { pauseMs: number; most: number } = defaultLimits) {
    this.#limits = limits;
  }

  /** Resolves with the refusal when it is time to throw it. */
  async after<Refusal extends Error>(refusal: Refusal): Promise<Refusal> {
    if (this.#waiting >= this.#limits.most) return refusal;
    this.#waiting += 1;
    await delay(this.#limits.pauseMs);
    this.#waiting -= 1;
    return refusal;
  }
}
