import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { AppDependencies } from '../dependencies.ts';
import { LaunchFault } from './faults.ts';

/** How long a platform may take from the login to the launch, in seconds: people log in there meanwhile. */
export const stateSeconds = 600;

const idBytes = 32;
const sealBytes = 16;

const stateSchema = z.object({
  /** The `iss` and `client_id` of the platform that was asked, and where. */
  issuer: z.string(),
  clientId: z.string(),
  authUrl: z.string(),
  /** What its id_token has to say. */
  nonce: z.string(),
  /** Digest of the address at which the launch ends, which may be long. */
  target: z.string(),
  /** Digest of the secret that the browser keeps. */
  browser: z.string(),
  /** The frame in which the platform was to keep the secret; null where the browser keeps cookies. */
  storageTarget: z.string().nullable(),
});

/** A login that waits for its launch. */
export type LaunchState = z.output<typeof stateSchema>;

/** What a login hands out. */
export interface BegunLaunch {
  /** Names the launch, to the platform too. */
  state: string;
  nonce: string;
  /** For the browser alone: by it the browser is known again. */
  browserSecret: string;
}

const used = 'used';

/** Marks a state as used, for as long as it would have been good, and gives what it was. */
const takeScript = `
local held = redis.call('GET', KEYS[1])
if not held or held == '${used}' then return held end
redis.call('SET', KEYS[1], '${used}', 'PX', math.max(1, redis.call('PTTL', KEYS[1])))
return held
`;

/**
 * Logins that wait for their launch, in Redis, which forgets them. Keys are digests of states, and of the browser's
 * secret only a digest is kept: who can read Redis can launch nothing.
 */
export class LaunchStates {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #secret: string;

  constructor({ redis, config, secrets }: Pick<AppDependencies, 'redis' | 'config' | 'secrets'>) {
    this.#redis = redis;
    this.#prefix = `${config.redisPrefix}:lti:state`;
    this.#secret = secrets.cookie;
  }

  async begin(fields: Omit<LaunchState, 'nonce' | 'browser'>): Promise<BegunLaunch> {
    const begun = {
      state: this.#newState(),
      nonce: randomBytes(32).toString('base64url'),
      browserSecret: randomBytes(32).toString('base64url'),
    };
    const kept: LaunchState = { ...fields, nonce: begun.nonce, browser: digestOf(begun.browserSecret) };
    await this.#redis.set(this.#keyOf(begun.state), JSON.stringify(kept), 'EX', stateSeconds);
    return begun;
  }

  /** @throws {LaunchFault} unknown_state, state_expired, replayed. */
  async look(state: string): Promise<LaunchState> {
    return this.#read(state, await this.#redis.get(this.#keyOf(state)));
  }

  /**
   * Uses a state up. Of all that do so at once, in whatever processes, one gets it.
   *
   * @throws {LaunchFault} as above.
   */
  async take(state: string): Promise<LaunchState> {
    const held = (await this.#redis.eval(takeScript, 1, this.#keyOf(state))) as string | null;
    return this.#read(state, held);
  }

  #read(state: string, held: string | null): LaunchState {
    if (held === used) throw new LaunchFault('replayed');
    if (held !== null) return stateSchema.parse(JSON.parse(held));
    throw new LaunchFault(this.#isOwn(state) ? 'state_expired' : 'unknown_state');
  }

  /** With a seal, by which one that is gone can be told from one that never was. */
  #newState(): string {
    const id = randomBytes(idBytes);
    return Buffer.concat([id, this.#sealOf(id)]).toString('base64url');
  }

  #isOwn(state: string): boolean {
    const bytes = Buffer.from(state, 'base64url');
    if (bytes.length !== idBytes + sealBytes) return false;
    return timingSafeEqual(bytes.subarray(idBytes), this.#sealOf(bytes.subarray(0, idBytes)));
  }

  #sealOf(id: Buffer): Buffer {
    const seal = createHmac('sha256', this.#secret).update('lti state\n').update(id);
    return seal.digest().subarray(0, sealBytes);
  }

  #keyOf(state: string): string {
    return `${this.#prefix}:${digestOf(state)}`;
  }
}

/** What is kept of an address, however it is written. */
export function digestOfAddress(address: string): string {
  return digestOf(new URL(address).href);
}

/** Whether a browser shows the secret that it was given with the login. */
export function isBrowserOf({ browser }: Pick<LaunchState, 'browser'>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(secret)), Buffer.from(browser));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
