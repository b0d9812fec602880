import { setTimeout } from 'node:timers/promises';
import { importJWK } from 'jose';
import type { CryptoKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { messageOf } from '../../shared/platform/errors.ts';
import { responseJson } from '../../shared/lti/platform-requests.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';

/** How long keys are taken for what the platform has now. */
const freshMs = 10 * 60_000;
/** How long they are used while the platform does not answer. */
const staleMs = 24 * 3600_000;
/** Between two requests to a platform for a key that it did not have. */
const pauseMs = 10_000;
/** Between two requests to a platform that does not answer, while there are keys to go on with. */
const outageMs = 60_000;
/** How long a launch waits for newer keys that has one to go on with. */
const patienceMs = 1_000;

const mostPlatforms = 1_000;
const mostKeys = 100;
const leastBits = 2048;

/** A platform's keys cannot be had, now. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

/** The platform has no key of this id that RS256 could be checked with. */
export class UnknownKey extends Error {
  override readonly name = 'UnknownKey';
}

/** The keys with which learning platforms sign, each set fetched once for all who need it. */
export interface PlatformKeys {
  /**
   * The public RSA key that a platform names so, for RS256.
   *
   * @throws {UnknownKey} also when the set was asked for less than 10 seconds ago and had no such key.
   * @throws {KeysUnavailable} when the platform does not answer with a key set.
   */
  find(jwksUrl: string, kid: string): Promise<CryptoKey>;
}

type KeySet = ReadonlyMap<string, CryptoKey>;

/** What is known of one platform. Times are in milliseconds, by the clock. */
interface Entry {
  keys: KeySet;
  /** When `keys` came; -Infinity before any did. */
  fetchedAt: number;
  /** When the last request ended, and why it failed if it did. */
  askedAt: number;
  failure: unknown;
  asking: Promise<void> | null;
}

/** @param now a test's clock, in milliseconds. */
export function createPlatformKeys(client: PlatformClient, now: () => number = Date.now): PlatformKeys {
  const entries = new LRUCache<string, Entry>({ max: mostPlatforms });

  const entryOf = (jwksUrl: string): Entry => {
    const known = entries.get(jwksUrl);
    if (known !== undefined) return known;
    const entry = {
      keys: new Map<string, CryptoKey>(),
      fetchedAt: -Infinity,
      askedAt: -Infinity,
      failure: null,
      asking: null,
    };
    entries.set(jwksUrl, entry);
    return entry;
  };

  /** Never rejects. */
  const ask = async (entry: Entry, jwksUrl: string): Promise<void> => {
    try {
      entry.keys = await fetchKeys(client, jwksUrl);
      entry.fetchedAt = now();
      entry.failure = null;
    } catch (error) {
      entry.failure = error;
    }
    entry.askedAt = now();
    entry.asking = null;
  };

  const patience = () => setTimeout(patienceMs, undefined, { ref: false });

  return {
    async find(jwksUrl, kid) {
      const entry = entryOf(jwksUrl);
      const known = entry.keys.get(kid);
      if (known !== undefined && now() - entry.fetchedAt < freshMs) return known;
      const goesOn = known !== undefined && now() - entry.fetchedAt < staleMs;
      const pause = goesOn && entry.failure !== null ? outageMs : pauseMs;
      if (entry.asking === null && now() - entry.askedAt >= pause) entry.asking = ask(entry, jwksUrl);
      if (entry.asking !== null) await (goesOn ? Promise.race([entry.asking, patience()]) : entry.asking);

      const found = now() - entry.fetchedAt < staleMs ? entry.keys.get(kid) : undefined;
      if (found !== undefined) return found;
      if (entry.failure === null) throw new UnknownKey('The platform has no such key');
      throw new KeysUnavailable(`The platform's keys cannot be had: ${messageOf(entry.failure)}`, {
        cause: entry.failure,
      });
    },
  };
}

const keySetSchema = z.object({ keys: z.array(z.unknown()) });

/** A key for signatures; sets may hold others. */
const keySchema = z.object({
  kty: z.literal('RSA'),
  kid: z.string(),
  n: z.string(),
  e: z.string().min(1),
  use: z.literal('sig').optional(),
  alg: z.literal('RS256').optional(),
});

/** @throws {Error} when there is no answer, or it is no key set. */
async function fetchKeys(client: PlatformClient, jwksUrl: string): Promise<KeySet> {
  const answer = await client.request(jwksUrl, {
    method: 'GET',
    headers: { Accept: 'application/json' },
  });
  if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
  const set = keySetSchema.safeParse(responseJson(answer));
  if (!set.success) throw new Error('it answered with something else than a key set');
  const keys = new Map<string, CryptoKey>();
  for (const candidate of set.data.keys) {
    const jwk = keySchema.safeParse(candidate).data;
    if (jwk === undefined) continue;
    const key = await importKey(jwk);
    if (key !== null && keys.size < mostKeys) keys.set(jwk.kid, key);
  }
  return keys;
}

/** Null for one that is too weak, or is none. */
async function importKey({ kty, n, e }: z.output<typeof keySchema>): Promise<CryptoKey | null> {
  try {
    const key = await importJWK({ kty, n, e }, 'RS256');
    const { modulusLength } = key.algorithm as { modulusLength?: number };
    return modulusLength !== undefined && modulusLength >= leastBits ? key : null;
  } catch {
    return null;
  }
}
