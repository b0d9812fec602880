import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';

/** What Redis holds of a session. Times are Unix milliseconds. */
const sessionSchema = z.object({
  userId: z.string(),
  /** The password that it was begun with, by the time since when it is the user's. */
  passwordChangedAt: z.number(),
  expiresAt: z.number(),
});
export type SessionData = z.output<typeof sessionSchema>;

/**
 * Sessions in Redis, which forgets them when they expire. The key is a digest of the id: who can read Redis, or a copy
 * of it, learns no id.
 */
export class SessionStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, redisPrefix: string) {
    this.#redis = redis;
    this.#prefix = `${redisPrefix}:session`;
  }

  /** Null where there is none, or none any more. */
  async get(id: string): Promise<SessionData | null> {
    const text = await this.#redis.get(this.#keyOf(id));
    return text === null ? null : sessionSchema.parse(JSON.parse(text));
  }

  async set(id: string, data: SessionData): Promise<void> {
    const milliseconds = Math.max(1, data.expiresAt - Date.now());
    await this.#redis.set(this.#keyOf(id), JSON.stringify(data), 'PX', milliseconds);
  }

  async remove(id: string): Promise<void> {
    await this.#redis.del(this.#keyOf(id));
  }

  #keyOf(id: string): string {
    return `${this.#prefix}:${createHash('sha256').update(id).digest('hex')}`;
  }
}
