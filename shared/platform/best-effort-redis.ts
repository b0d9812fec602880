import type { Redis } from 'ioredis';
import { withDeadline } from '../platform/time-limits.ts';

const commandTimeoutMs = 1_000;

/** How long commands are skipped after a timeout. A refused connection fails at once, so it needs no such pause. */
const skipMs = 1_000;

/** Redis for work that can do without it: commands return undefined while Redis is unavailable. */
export class BestEffortRedis {
  readonly #redis: Redis;
  readonly #prefix: string;
  #skipUntil = 0;

  /** @param redis a connection that fails fast. */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** Returns a key of this installation. */
  key(name: string): string {
    return `${this.#prefix}:${name}`;
  }

  /** Returns the result of a command, or undefined after 1 second. The command may still take effect later. */
  async try<T>(command: (redis: Redis) => Promise<T>): Promise<T | undefined> {
    if (Date.now() < this.#skipUntil) return undefined;
    const late = () => {
      this.#skipUntil = Date.now() + skipMs;
      return undefined;
    };
    const sent = command(this.#redis).catch(() => undefined);
    return withDeadline(sent, { timeoutMs: commandTimeoutMs, late });
  }
}
