import { createHash, randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';

const ttlSeconds = 3600;

/** A platform's request to choose lessons (LTI Deep Linking 2.0). */
const choiceSchema = z.object({
  platformId: z.string(),
  deploymentId: z.string(),
  /** The platform's URL for the response. */
  returnUrl: z.string(),
  acceptsMultiple: z.boolean(),
  /** Whether the platform creates gradebook columns. */
  acceptsLineItem: z.boolean(),
  /** Returned to the platform unchanged. */
  data: z.string().optional(),
  /** The page's language, as the platform spells it. */
  locale: z.string().optional(),
});
export type Choice = z.output<typeof choiceSchema>;

/**
 * Stores choices in progress in Redis, where they expire. The id is the only credential for a choice. Redis keys hold
 * its digest, so that reading Redis reveals no id.
 */
export class ChoiceStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, redisPrefix: string) {
    this.#redis = redis;
    this.#prefix = `${redisPrefix}:lti:choice`;
  }

  /** Stores a choice for an hour. @returns its id. */
  async add(choice: Choice): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    await this.#redis.set(this.#keyOf(id), JSON.stringify(choice), 'EX', ttlSeconds);
    return id;
  }

  /** Returns null if the choice is unknown or has expired. */
  async get(id: string): Promise<Choice | null> {
    const text = await this.#redis.get(this.#keyOf(id));
    return text === null ? null : choiceSchema.parse(JSON.parse(text));
  }

  #keyOf(id: string): string {
    return `${this.#prefix}:${createHash('sha256').update(id).digest('hex')}`;
  }
}
