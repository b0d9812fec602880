import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { requestValue } from './context.ts';

/** The approximate CPU time for compressing 1 MiB at the levels that responses use. */
const msPerMiB = 25;

/** The maximum number of owners. With more, the counts of the oldest are dropped. */
const maxOwners = 10_000;

/** The organization that a response is for, by its id. Set by access with credentials, sessions and tokens. */
export const responseOwner = requestValue<string>('owner of the response');

/**
 * Limits the CPU time of compressing responses in one process. Without it, clients that request large responses would
 * take CPU time from all others. Responses over the budget are sent uncompressed.
 *
 * A quarter of the budget stays open to organizations that have used little, so that one cannot use up the others' share.
 */
export class CompressionBudget {
  readonly #msPerSecond: number;
  readonly #burstMs: number;
  readonly #now: () => number;
  readonly #used = new LRUCache<string, { ms: number; at: number }>({ max: maxOwners });
  #availableMs: number;
  #updatedAt: number;

  /**
   * @param msPerSecond milliseconds of CPU time per second in the long run.
   * @param now a clock in milliseconds.
   */
  constructor(msPerSecond = 200, now: () => number = () => performance.now()) {
    this.#msPerSecond = msPerSecond;
    this.#burstMs = 2 * msPerSecond;
    this.#now = now;
    this.#availableMs = this.#burstMs;
    this.#updatedAt = now();
  }

  /** Reserves the time for a response; returns false if the budget is used up for now. */
  reserve(bytes: number, ctx: Pick<Context, 'req'>): boolean {
    return this.reserveFor(responseOwner.find(ctx) ?? 'none', bytes);
  }

  /** Reserves the time for an owner's response; responses without one share an owner. */
  reserveFor(owner: string, bytes: number): boolean {
    const now = this.#now();
    this.#availableMs = Math.min(this.#burstMs, this.#availableMs + this.#earnedMs(this.#updatedAt, now));
    this.#updatedAt = now;
    const cost = (bytes / 1024 ** 2) * msPerMiB;
    const usedMs = this.#usedMs(owner, now);
    const keptMs = this.#burstMs / 4;
    const openMs = usedMs < keptMs ? this.#availableMs : this.#availableMs - keptMs;
    if (cost > openMs) return false;
    this.#availableMs -= cost;
    this.#used.set(owner, { ms: usedMs + cost, at: now });
    return true;
  }

  /** An owner's use decays at a quarter of the rate, so an owner below that rate has used little. */
  #usedMs(owner: string, now: number): number {
    const used = this.#used.get(owner);
    return used === undefined ? 0 : Math.max(0, used.ms - this.#earnedMs(used.at, now) / 4);
  }

  #earnedMs(since: number, now: number): number {
    return ((now - since) / 1000) * this.#msPerSecond;
  }
}
