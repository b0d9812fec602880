import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';

/** A session in Redis. Times are Unix milliseconds. */
const sessionSchema = z.object({
  userId: z.string(),
  /** The user's `sessionsEndedAt` at the login: a later one ends the session. */
  sessionsEndedAt: z.number(),
  expiresAt: z.number(),
});
export type SessionData = z.output<typeof sessionSchema>;

/** Sessions in Redis, until they expire. Keys are digests of session ids, so a leaked copy of Redis contains no id. */
export class SessionStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, redisPrefix: string) {
    this.#redis = redis;
    this.#prefix = `${redisPrefix}:session`;
  }

  /** Returns null if the session does not exist or has expired. */
  async get(id: string): Promise<SessionData | null> {
    const text = await this.#redis.get(this.#keyOf(id));
    return text === null ? null : sessionSchema.parse(JSON.parse(text));
  }

  async set(id: string, data: SessionData): Promise<void> {
    const ttlMs = Math.max(1, data.expiresAt - Date.now());
    await this.#redis.set(this.#keyOf(id), JSON.stringify(data), 'PX', ttlMs);
  }

  async remove(id: string): Promise<void> {
    await this.#redis.del(this.#keyOf(id));
  }

  #keyOf(id: string): string {
    return `${this.#prefix}:${createHash('sha256').update(id).digest('hex')}`;
  }
}
