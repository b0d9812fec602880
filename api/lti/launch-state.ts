import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { findPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { uuidFromHex } from '../../shared/platform/uuid.ts';
import type { LtiDependencies } from './dependencies.ts';
import { LaunchFault } from './faults.ts';

/** How long the launch may follow its login; users may have to log in to the platform meanwhile. */
export const stateSeconds = 600;

/** The parts of a state, in order. The frame's name and the seal follow. */
const randomBytesLength = 16;
const expiryBytes = 4;
const platformBytes = 16;
const targetBytes = 32;
const fixedBytes = randomBytesLength + expiryBytes + platformBytes + targetBytes;
const sealBytes = 16;

/** A login whose launch is pending. */
export interface LaunchState extends Pick<LtiPlatform, 'issuer' | 'clientId' | 'authUrl'> {
  /** The nonce that the platform's id_token must have. */
  nonce: string;
  /** Digest of the URL that the launch opens. */
  target: string;
  /** Digest of the browser's secret. */
  browser: string;
  /** The frame in which the platform stores the secret; null if the browser keeps cookies. */
  storageTarget: string | null;
}

export interface NewLaunch extends Pick<LaunchState, 'target' | 'storageTarget'> {
  platformId: string;
}

export interface StartedLogin {
  /** Identifies the launch; the platform returns it. */
  state: string;
  nonce: string;
  /** Proves that a launch comes from the browser of its login. The platform never sees it. */
  browserSecret: string;
}

/**
 * Seals each login's data into its state, so that logins store nothing. Nonce and browser secret are derived from the
 * state with Lectern's own secret. Redis stores the used states until they expire.
 */
export class LaunchStates {
  readonly #redis: Redis;
  readonly #db: LtiDependencies['db'];
  readonly #prefix: string;
  readonly #secret: string;
  readonly #now: () => number;

  /** @param now the clock, in milliseconds; tests replace it. */
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

  begin({ platformId, target, storageTarget }: NewLaunch): StartedLogin {
    const expiry = Buffer.alloc(expiryBytes);
    expiry.writeUInt32BE(Math.floor(this.#now() / 1000) + stateSeconds);
    const parts = Buffer.concat([
      randomBytes(randomBytesLength),
      expiry,
      Buffer.from(platformId.replaceAll('-', ''), 'hex'),
      Buffer.from(target, 'base64url'),
      Buffer.from(storageTarget ?? ''),
    ]);
    const state = Buffer.concat([parts, this.#sealOf(parts)]).toString('base64url');
    return { state, nonce: this.#derive('nonce', state), browserSecret: this.#derive('browser', state) };
  }

  /**
   * Opens a state without using it up.
   *
   * @throws {LaunchFault} unknown_state, state_expired, replayed, unknown_platform.
   */
  async read(state: string): Promise<LaunchState> {
    const parts = this.#unseal(state);
    if (parts === null) throw new LaunchFault('unknown_state');
    if (this.#secondsLeft(parts) <= 0) throw new LaunchFault('state_expired');
    if ((await this.#redis.exists(this.#keyOf(state))) === 1) throw new LaunchFault('replayed');
    const platformStart = randomBytesLength + expiryBytes;
    const platformId = uuidFromHex(
      parts.subarray(platformStart, platformStart + platformBytes).toString('hex'),
    );
    const platform = await findPlatform(this.#db, platformId);
    if (platform === null) throw new LaunchFault('unknown_platform', { platform: platformId });
    const { issuer, clientId, authUrl } = platform;
    const storageTarget = parts.subarray(fixedBytes).toString();
    return {
      ...{ issuer, clientId, authUrl },
      nonce: this.#derive('nonce', state),
      target: parts.subarray(fixedBytes - targetBytes, fixedBytes).toString('base64url'),
      browser: digestOf(this.#derive('browser', state)),
      storageTarget: storageTarget === '' ? null : storageTarget,
    };
  }

  /**
   * Uses a state up. Exactly one concurrent request succeeds, across all processes.
   *
   * @throws {LaunchFault} replayed, unknown_state.
   */
  async consume(state: string): Promise<void> {
    const parts = this.#unseal(state);
    if (parts === null) throw new LaunchFault('unknown_state');
    const seconds = Math.max(1, this.#secondsLeft(parts));
    const stored = await this.#redis.set(this.#keyOf(state), '', 'EX', seconds, 'NX');
    if (stored === null) throw new LaunchFault('replayed');
  }

  /** Returns the parts of a state that Lectern sealed; null for any other text. */
  #unseal(state: string): Buffer | null {
    const bytes = Buffer.from(state, 'base64url');
    // base64url can spell the same bytes in several ways, and each would have its own key in Redis.
    if (bytes.length < fixedBytes + sealBytes || bytes.toString('base64url') !== state) return null;
    const parts = bytes.subarray(0, -sealBytes);
    return timingSafeEqual(bytes.subarray(-sealBytes), this.#sealOf(parts)) ? parts : null;
  }

  #secondsLeft(parts: Buffer): number {
    return parts.readUInt32BE(randomBytesLength) - Math.floor(this.#now() / 1000);
  }

  #sealOf(parts: Buffer): Buffer {
    const seal = createHmac('sha256', this.#secret).update('lti state\n').update(parts);
    return seal.digest().subarray(0, sealBytes);
  }

  #derive(what: 'nonce' | 'browser', state: string): string {
    return createHmac('sha256', this.#secret).update(`lti ${what}\n${state}`).digest('base64url');
  }

  #keyOf(state: string): string {
    return `${this.#prefix}:${digestOf(state)}`;
  }
}

/** Returns the digest of a normalized URL. */
export function digestOfUrl(url: string): string {
  return digestOf(new URL(url).href);
}

/** Whether this is the secret that the login gave to its browser. */
export function isBrowserOf({ browser }: Pick<LaunchState, 'browser'>, secret: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(secret)), Buffer.from(browser));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
