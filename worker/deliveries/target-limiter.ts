import { LRUCache } from 'lru-cache';
import { atMost } from '../../shared/platform/cache-size.ts';
import type { TargetHealth } from '../../shared/deliveries/delivery-fault.ts';
import { doubledMs } from '../../shared/platform/backoff.ts';

/**
 * The limit of concurrent deliveries from one process to one target, so that a slow target leaves slots for the others.
 */
export const maxPerTarget = 4;

/** The maximum number of targets that a process remembers as working. */
const maxKnown = 10_000;

/** The pause of a target that sends no Retry-After. No jitter is needed: one delivery at a time probes it. */
const backoff = { firstMs: 2_000, maxMs: 60_000 };
const maxRetryAfterMs = 3600_000;

interface Target {
  running: number;
  /** Consecutive attempts that found the target failing. */
  failures: number;
  /** By the limiter's clock. */
  pausedUntil: number;
}

/**
 * Decides which targets get deliveries now: a circuit breaker for each. A failing target is paused with backoff and
 * then probed by one delivery at a time, so that it cannot take the slots of healthy ones.
 */
export class TargetLimiter {
  readonly #targets = new Map<string, Target>();
  /** Targets that have worked: others may be dead, and get one delivery first. */
  readonly #working = new LRUCache<string, true>(atMost(maxKnown));
  readonly #now: () => number;

  /** @param now the clock, in milliseconds; tests replace it. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Takes a slot, which the caller releases; returns false when the target has none free. */
  acquire(id: string): boolean {
    const target = this.#targets.get(id) ?? { running: 0, failures: 0, pausedUntil: 0 };
    const max = target.failures > 0 || !this.#working.has(id) ? 1 : maxPerTarget;
    if (this.#isPaused(target) || target.running >= max) return false;
    target.running += 1;
    this.#targets.set(id, target);
    return true;
  }

  /** Returns whether the last attempts found the target failing. */
  isFailing(id: string): boolean {
    return (this.#targets.get(id)?.failures ?? 0) > 0;
  }

  /**
   * Releases a slot.
   *
   * @param health the health that the attempt showed; `unknown` changes nothing.
   * @param retryAfterMs the delay in a failing target's Retry-After header; 0 without one.
   */
  release(id: string, health: TargetHealth, retryAfterMs = 0): void {
    const target = this.#targets.get(id);
    if (target === undefined) return;
    target.running -= 1;
    if (health === 'failing') this.#pause(target, Math.min(retryAfterMs, maxRetryAfterMs));
    // A success during a pause belongs to a request that was sent before it.
    else if (health === 'healthy' && !this.#isPaused(target)) {
      target.failures = 0;
      this.#working.set(id, true);
    }
    if (target.running === 0 && target.failures === 0) this.#targets.delete(id);
  }

  #pause(target: Target, retryAfterMs: number): void {
    let pauseMs = retryAfterMs;
    if (!this.#isPaused(target)) {
      pauseMs = Math.max(retryAfterMs, doubledMs(backoff, target.failures));
      target.failures += 1;
    }
    target.pausedUntil = Math.max(target.pausedUntil, this.#now() + pauseMs);
  }

  #isPaused({ pausedUntil }: Target): boolean {
    return this.#now() < pausedUntil;
  }
}
