import { createHash, randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';

const ttlSeconds = 3600;

/** A platform's request to choose lessons (LTI Deep Linking 2.0). */
const selectionSchema = z.object({
  platformId: z.string(),
  deploymentId: z.string(),
  /** The platform's URL for the response. */
  returnUrl: z.string(),
  acceptsMultiple: z.boolean(),
  /** Whether the platform creates gradebook columns. */
  acceptsLineItem: z.boolean(),
  /** A JSON text, returned to the platform unchanged. */
  data: z.string().optional(),
  /** The page's language, as the platform spells it. */
  locale: z.string().optional(),
});
export type Selection = z.output<typeof selectionSchema>;

/**
 * Stores open selections in Redis, where they expire. The id is the only credential for a selection. Redis keys hold
 * its digest, so that reading Redis reveals no id.
 */
export class SelectionStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, redisPrefix: string) {
    this.#redis = redis;
    // Keys keep this name, because other releases read them.
    this.#prefix = `${redisPrefix}:lti:choice`;
  }

  /** Stores a selection for an hour. @returns its id. */
  async add(selection: Selection): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    await this.#redis.set(this.#keyOf(id), JSON.stringify(selection), 'EX', ttlSeconds);
    return id;
  }

  /** Returns null if the selection is unknown or has expired. */
  async get(id: string): Promise<Selection | null> {
    const text = await this.#redis.get(this.#keyOf(id));
    return text === null ? null : selectionSchema.parse(JSON.parse(text));
  }

  #keyOf(id: string): string {
    return `${this.#prefix}:${createHash('sha256').update(id).digest('hex')}`;
  }
}
