import type { Redis } from 'ioredis';

/** How long Redis is left alone after a command that failed: each one to a server that hangs waits for its deadline. */
const restMilliseconds = 1_000;

/** Redis for what can do without it: a command that fails is an answer that is not there. */
export class WillingRedis {
  readonly redis: Redis;
  readonly prefix: string;
  #awayUntil = 0;

  /** @param redis a connection that fails fast. */
  constructor(redis: Redis, prefix: string) {
    this.redis = redis;
    this.prefix = prefix;
  }

  /** A key of this installation. */
  key(name: string): string {
    return `${this.prefix}:${name}`;
  }

  /** What a command gives; undefined while Redis is away. */
  async try<T>(command: (redis: Redis) => Promise<T>): Promise<T | undefined> {
    if (Date.now() < this.#awayUntil) return undefined;
    try {
      return await command(this.redis);
    } catch {
      this.#awayUntil = Date.now() + restMilliseconds;
      return undefined;
    }
  }
}
