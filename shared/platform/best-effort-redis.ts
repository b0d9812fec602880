import type { Redis } from 'ioredis';
import { withDeadline } from '../platform/time-limits.ts';

/** A Redis that does not answer within this is away: nobody waits longer for what can be done without it. */
const timeoutMs = 1_000;

/** How long one that does not answer is left alone. One that is not there at all fails at once, and costs nothing. */
const retryAfterMs = 1_000;

/** Redis for what can do without it: a command that fails is an answer that is not there. */
export class BestEffortRedis {
  readonly #redis: Redis;
  readonly #prefix: string;
  #awayUntil = 0;

  /** @param redis a connection that fails fast. */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** A key of this installation. */
  key(name: string): string {
    return `${this.#prefix}:${name}`;
  }

  /** What a command gives; undefined while Redis is away. A command that nobody waited for may yet take effect. */
  async try<T>(command: (redis: Redis) => Promise<T>): Promise<T | undefined> {
    if (Date.now() < this.#awayUntil) return undefined;
    const late = () => {
      this.#awayUntil = Date.now() + retryAfterMs;
      return undefined;
    };
    const sent = command(this.#redis).catch(() => undefined);
    return withDeadline(sent, { timeoutMs: timeoutMs, late });
  }
}
