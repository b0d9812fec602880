import { doubledMs } from '../../shared/platform/backoff.ts';
import type { PlatformState } from '../../shared/lti/scores/service-request.ts';

/** How many scores a process sends to one platform at once: others have their turn beside a slow one. */
export const turnsAtOnce = 4;

/** For a platform that sends no Retry-After; it takes turns with others, so its pauses need no jitter. */
const backoff = { firstMs: 2_000, maxMs: 60_000 };
const longestAskedMilliseconds = 3600_000;

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

  /** Takes a turn, which has to be ended; false when there is none. */
  start(platformId: string): boolean {
    const turn = this.#turns.get(platformId) ?? { running: 0, troubles: 0, pausedUntil: 0 };
    if (this.#isPaused(turn) || turn.running >= (turn.troubles > 0 ? 1 : turnsAtOnce)) return false;
    turn.running += 1;
    this.#turns.set(platformId, turn);
    return true;
  }

  /**
   * Ends a turn.
   *
   * @param state what it has shown of the platform; what is not known leaves everything as it is.
   * @param retryAfter how long a platform in trouble asks to be left alone, in milliseconds; 0 where it does not say.
   */
  end(platformId: string, state: PlatformState, retryAfter = 0): void {
    const turn = this.#turns.get(platformId);
    if (turn === undefined) return;
    turn.running -= 1;
    if (state === 'trouble') this.#pause(turn, Math.min(retryAfter, longestAskedMilliseconds));
    // What is answered well during a pause was asked before it.
    else if (state === 'well' && !this.#isPaused(turn)) turn.troubles = 0;
    if (turn.running === 0 && turn.troubles === 0) this.#turns.delete(platformId);
  }

  #pause(turn: Turn, asked: number): void {
    let pause = asked;
    if (!this.#isPaused(turn)) {
      pause = Math.max(asked, doubledMs(backoff, turn.troubles));
      turn.troubles += 1;
    }
    turn.pausedUntil = Math.max(turn.pausedUntil, this.#now() + pause);
  }

  #isPaused({ pausedUntil }: Turn): boolean {
    return this.#now() < pausedUntil;
  }
}
