/** How many scores a process sends to one platform at once: others have their turn beside a slow one. */
const atOnce = 4;

const firstPauseMilliseconds = 2_000;
const longestPauseMilliseconds = 60_000;

interface Turn {
  running: number;
  /** Tries one after the other with which something was wrong that others would have met too. */
  troubles: number;
  /** By the clock of the turns. */
  pausedUntil: number;
}

/**
 * Which platforms may be asked now. One that does not answer is left alone for a while, then asked by one at a time;
 * without that the scores of one platform that is down could keep those of all others waiting.
 */
export class PlatformTurns {
  readonly #turns = new Map<string, Turn>();
  readonly #now: () => number;

  /** @param now a test's clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Those that may not be asked now. */
  blocked(): string[] {
    return [...this.#turns].filter(([, turn]) => this.#isBlocked(turn)).map(([platformId]) => platformId);
  }

  /** Takes a turn, which has to be ended; false when there is none. */
  start(platformId: string): boolean {
    const turn = this.#turns.get(platformId) ?? { running: 0, troubles: 0, pausedUntil: 0 };
    if (this.#isBlocked(turn)) return false;
    turn.running += 1;
    this.#turns.set(platformId, turn);
    return true;
  }

  /**
   * Ends a turn.
   *
   * @param trouble null where nothing was wrong with the platform; else how long it asks to be left alone, in
   * milliseconds, 0 where it does not say.
   */
  end(platformId: string, trouble: number | null): void {
    const turn = this.#turns.get(platformId);
    if (turn === undefined) return;
    turn.running -= 1;
    if (trouble === null) {
      turn.troubles = 0;
      turn.pausedUntil = 0;
      if (turn.running === 0) this.#turns.delete(platformId);
      return;
    }
    const pause = Math.max(firstPauseMilliseconds * 2 ** Math.min(turn.troubles, 10), trouble);
    turn.troubles += 1;
    turn.pausedUntil = this.#now() + Math.min(pause, longestPauseMilliseconds);
  }

  #isBlocked({ running, troubles, pausedUntil }: Turn): boolean {
    return this.#now() < pausedUntil || running >= (troubles > 0 ? 1 : atOnce);
  }
}
