import { createHash, randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';

/** How long somebody may take to choose, in seconds. */
const lifeSeconds = 3600;

/** What a platform asked for when it sent somebody to choose lessons: LTI Deep Linking 2.0. */
const choiceSchema = z.object({
  platformId: z.string(),
  deploymentId: z.string(),
  /** Where the answer goes. */
  returnUrl: z.string(),
  /** Whether more than one lesson may be chosen. */
  acceptsMultiple: z.boolean(),
  /** Whether the platform may make a column in its gradebook. */
  acceptsLineItem: z.boolean(),
  /** Goes back with the answer as it came. */
  data: z.string().optional(),
  /** Language of the page, as the platform writes it. */
  locale: z.string().optional(),
});
export type Choice = z.output<typeof choiceSchema>;

/**
 * Choices that are under way, in Redis, which forgets them. Whoever has the id may choose: it is as good as the
 * message that it was made for. The key is a digest of it, so that who can read Redis learns none.
 */
export class ChoiceStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, redisPrefix: string) {
    this.#redis = redis;
    this.#prefix = `${redisPrefix}:lti:choice`;
  }

  /** Keeps a choice for an hour, and gives its id. */
  async add(choice: Choice): Promise<string> {
    const id = randomBytes(32).toString('base64url');
    await this.#redis.set(this.#keyOf(id), JSON.stringify(choice), 'EX', lifeSeconds);
    return id;
  }

  /** Null where there is none, or none any more. */
  async get(id: string): Promise<Choice | null> {
    const text = await this.#redis.get(this.#keyOf(id));
    return text === null ? null : choiceSchema.parse(JSON.parse(text));
  }

  #keyOf(id: string): string {
    return `${this.#prefix}:${createHash('sha256').update(id).digest('hex')}`;
  }
}
