import { setTimeout } from 'node:timers/promises';
import { importJWK } from 'jose';
import type { CryptoKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { messageOf } from '../../shared/platform/errors.ts';
import { responseJson } from '../../shared/lti/platform-requests.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';

/** How long cached keys are used without a request. */
const freshMs = 10 * 60_000;
/** How long cached keys are used while the platform does not respond. */
const staleMs = 24 * 3600_000;
/** The minimum time between two requests for a key that the platform did not have. */
const retryMs = 10_000;
/** The minimum time between two requests to a platform that does not respond, while a cached key serves. */
const outageRetryMs = 60_000;
/** How long a launch that has a cached key waits for newer keys. */
const refreshWaitMs = 1_000;

const maxPlatforms = 1_000;
const maxKeys = 100;
const minBits = 2048;

/** Reports that the platform's keys cannot be fetched. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/** Reports that the platform has no RS256 key with this id. */
export class UnknownKey extends Error {
  override readonly name = 'UnknownKey';
}

/** A cache of the keys with which learning platforms sign. Concurrent launches share one request. */
export interface PlatformKeys {
  /**
   * Returns the platform's public RSA key with an id.
   *
   * @param failed a key with this id that did not verify a signature. The platform may have replaced it: requests its
   *   keys, unless it did so less than 10 seconds ago. Returns the same key if there is no newer one.
   * @throws {UnknownKey} also if the set was fetched less than 10 seconds ago and had no such key.
   * @throws {KeysUnavailable} if the platform does not respond with a key set.
   */
  find(jwksUrl: string, kid: string, failed?: CryptoKey): Promise<CryptoKey>;
}

type KeySet = ReadonlyMap<string, CryptoKey>;

/** The cache entry of one platform. Times are in milliseconds, by the clock. */
interface Entry {
  keys: KeySet;
  /** When `keys` were fetched; -Infinity before the first time. */
  fetchedAt: number;
  /** When the last request ended. */
  triedAt: number;
  /** Why the last request failed; null if it did not. */
  failure: unknown;
  pending: Promise<void> | null;
}

/** @param now the clock, in milliseconds; tests replace it. */
export function createPlatformKeys(client: PlatformClient, now: () => number = Date.now): PlatformKeys {
  const entries = new LRUCache<string, Entry>({ max: maxPlatforms });

  const entryOf = (jwksUrl: string): Entry => {
    const cached = entries.get(jwksUrl);
    if (cached !== undefined) return cached;
    const entry = {
      keys: new Map<string, CryptoKey>(),
      fetchedAt: -Infinity,
      triedAt: -Infinity,
      failure: null,
      pending: null,
    };
    entries.set(jwksUrl, entry);
    return entry;
  };

  /** Never rejects. */
  const refresh = async (entry: Entry, jwksUrl: string): Promise<void> => {
    try {
      entry.keys = await fetchKeys(client, jwksUrl);
      entry.fetchedAt = now();
      entry.failure = null;
    } catch (error) {
      entry.failure = error;
    }
    entry.triedAt = now();
    entry.pending = null;
  };

  const refreshWait = () => setTimeout(refreshWaitMs, undefined, { ref: false });

  return {
    async find(jwksUrl, kid, failed) {
      const entry = entryOf(jwksUrl);
      const cached = entry.keys.get(kid);
      const isFailed = cached !== undefined && cached === failed;
      if (cached !== undefined && !isFailed && now() - entry.fetchedAt < freshMs) return cached;
      const isUsable = cached !== undefined && now() - entry.fetchedAt < staleMs;
      const retryAfterMs = isUsable && entry.failure !== null ? outageRetryMs : retryMs;
      if (entry.pending === null && now() - entry.triedAt >= retryAfterMs) {
        entry.pending = refresh(entry, jwksUrl);
      }
      if (entry.pending !== null) {
        await (isUsable && !isFailed ? Promise.race([entry.pending, refreshWait()]) : entry.pending);
      }

      const found = now() - entry.fetchedAt < staleMs ? entry.keys.get(kid) : undefined;
      if (found !== undefined) return found;
      if (entry.failure === null) throw new UnknownKey('The platform has no such key');
      throw new KeysUnavailable(`The platform's keys cannot be fetched: ${messageOf(entry.failure)}`, {
        cause: entry.failure,
      });
    },
  };
}

const keySetSchema = z.object({ keys: z.array(z.unknown()) });

/** A signature key. Sets may hold keys for other uses. */
const keySchema = z.object({
  kty: z.literal('RSA'),
  kid: z.string(),
  n: z.string(),
  e: z.string().min(1),
  use: z.literal('sig').optional(),
  alg: z.literal('RS256').optional(),
});

/** @throws {Error} if the platform does not respond, or not with a key set. */
async function fetchKeys(client: PlatformClient, jwksUrl: string): Promise<KeySet> {
  const response = await client.request(jwksUrl, {
    method: 'GET',
    headers: { Accept: 'application/json' },
  });
  if (response.status !== 200) throw new Error(`it returned ${response.status}`);
  const set = keySetSchema.safeParse(responseJson(response));
  if (!set.success) throw new Error('it did not return a key set');
  const keys = new Map<string, CryptoKey>();
  for (const candidate of set.data.keys) {
    const jwk = keySchema.safeParse(candidate).data;
    if (jwk === undefined) continue;
    const key = await importKey(jwk);
    if (key !== null && keys.size < maxKeys) keys.set(jwk.kid, key);
  }
  return keys;
}

/** Returns null for a key that is too short or invalid. */
async function importKey({ kty, n, e }: z.output<typeof keySchema>): Promise<CryptoKey | null> {
  try {
    const key = await importJWK({ kty, n, e }, 'RS256');
    const { modulusLength } = key.algorithm as { modulusLength?: number };
    return modulusLength !== undefined && modulusLength >= minBits ? key : null;
  } catch {
    return null;
  }
}
