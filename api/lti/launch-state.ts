import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { findPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { uuidFromHex } from '../../shared/platform/uuid.ts';
import type { LtiDependencies } from './dependencies.ts';
import { LaunchFault } from './faults.ts';

/** How long a platform may take from the login to the launch, in seconds: people log in there meanwhile. */
export const stateSeconds = 600;

/** Parts of a state, in bytes, in their order; the frame's name follows, then the seal. */
const randomLength = 16;
const expiryLength = 4;
const platformLength = 16;
const targetLength = 32;
const fixedLength = randomLength + expiryLength + platformLength + targetLength;
const sealLength = 16;

/** A login that waits for its launch. */
export interface LaunchState extends Pick<LtiPlatform, 'issuer' | 'clientId' | 'authUrl'> {
  /** What the platform's id_token has to say. */
  nonce: string;
  /** Digest of the address at which the launch ends. */
  target: string;
  /** Digest of the secret that the browser keeps. */
  browser: string;
  /** The frame in which the platform was to keep the secret; null where the browser keeps cookies. */
  storageTarget: string | null;
}

/** What a login says of its launch. */
export interface NewLaunch extends Pick<LaunchState, 'target' | 'storageTarget'> {
  platformId: string;
}

/** What a login hands out. */
export interface BegunLaunch {
  /** Names the launch, to the platform too. */
  state: string;
  nonce: string;
  /** For the browser alone: by it the browser is known again. */
  browserSecret: string;
}

/**
 * Logins that wait for their launch. Everything about one is in its state, under a seal, so a login stores nothing,
 * however many arrive. Nonce and browser secret are derived from the state with Lectern's own secret: the nonce goes to
 * the platform, the browser secret only to the browser. Redis stores which states were used, until they expire.
 */
export class LaunchStates {
  readonly #redis: Redis;
  readonly #db: LtiDependencies['db'];
  readonly #prefix: string;
  readonly #secret: string;
  readonly #now: () => number;

  /** @param now a test's clock, in milliseconds. */
  constructor(
    { redis, db, config, secrets }: Pick<LtiDependencies, 'redis' | 'db' | 'config' | 'secrets'>,
    now: () => number = Date.now,
  ) {
    this.#redis = redis;
    this.#db = db;
    this.#prefix = `${config.redisPrefix}:lti:used-state`;
    this.#secret = secrets.cookie;
    this.#now = now;
  }

  begin({ platformId, target, storageTarget }: NewLaunch): BegunLaunch {
    const expiry = Buffer.alloc(expiryLength);
    expiry.writeUInt32BE(Math.floor(this.#now() / 1000) + stateSeconds);
    const parts = Buffer.concat([
      randomBytes(randomLength),
      expiry,
      Buffer.from(platformId.replaceAll('-', ''), 'hex'),
      Buffer.from(target, 'base64url'),
      Buffer.from(storageTarget ?? ''),
    ]);
    const state = Buffer.concat([parts, this.#sealOf(parts)]).toString('base64url');
    return { state, nonce: this.#derive('nonce', state), browserSecret: this.#derive('browser', state) };
  }

  /** @throws {LaunchFault} unknown_state, state_expired, replayed, unknown_platform. */
  async look(state: string): Promise<LaunchState> {
    const parts = this.#unseal(state);
    if (parts === null) throw new LaunchFault('unknown_state');
    if (this.#secondsLeft(parts) <= 0) throw new LaunchFault('state_expired');
    if ((await this.#redis.exists(this.#keyOf(state))) === 1) throw new LaunchFault('replayed');
    const platformBytes = parts.subarray(randomLength + expiryLength).subarray(0, platformLength);
    const platformId = uuidFromHex(platformBytes.toString('hex'));
    const platform = await findPlatform(this.#db, platformId);
    if (platform === null) throw new LaunchFault('unknown_platform', { platform: platformId });
    const { issuer, clientId, authUrl } = platform;
    const storageTarget = parts.subarray(fixedLength).toString();
    return {
      ...{ issuer, clientId, authUrl },
      nonce: this.#derive('nonce', state),
      target: parts.subarray(fixedLength - targetLength, fixedLength).toString('base64url'),
      browser: digestOf(this.#derive('browser', state)),
      storageTarget: storageTarget === '' ? null : storageTarget,
    };
  }

  /**
   * Uses a state up. Exactly one of concurrent requests gets it, in whatever processes they are.
   *
   * @throws {LaunchFault} replayed, and as above.
   */
  async take(state: string): Promise<void> {
    const parts = this.#unseal(state);
    if (parts === null) throw new LaunchFault('unknown_state');
    const seconds = Math.max(1, this.#secondsLeft(parts));
    const taken = await this.#redis.set(this.#keyOf(state), '', 'EX', seconds, 'NX');
    if (taken === null) throw new LaunchFault('replayed');
  }

  /** The parts of a state that was sealed here; null for any other text. */
  #unseal(state: string): Buffer | null {
    const bytes = Buffer.from(state, 'base64url');
    // Other spellings of the same bytes would be other keys in Redis.
    if (bytes.length < fixedLength + sealLength || bytes.toString('base64url') !== state) return null;
    const parts = bytes.subarray(0, -sealLength);
    return timingSafeEqual(bytes.subarray(-sealLength), this.#sealOf(parts)) ? parts : null;
  }

  #secondsLeft(parts: Buffer): number {
    return parts.readUInt32BE(randomLength) - Math.floor(this.#now() / 1000);
  }

  #sealOf(parts: Buffer): Buffer {
    const seal = createHmac('sha256', this.#secret).update('lti state\n').update(parts);
    return seal.digest().subarray(0, sealLength);
  }

  #derive(what: 'nonce' | 'browser', state: string): string {
    return createHmac('sha256', this.#secret).update(`lti ${what}\n${state}`).digest('base64url');
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
