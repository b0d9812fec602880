import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { LecternError } from '../platform/errors.ts';
import type { Database } from '../models/database.ts';
import { addLtiKey, listLtiKeys, removeLtiKeysBefore } from '../models/lti-key.ts';
import { isInvitedKeySet } from '../models/lti-registration.ts';
import type { LtiKey } from '../models/lti-key.ts';
import { seal, unseal } from '../platform/seal.ts';
import type { SealScope } from '../platform/seal.ts';
import type { Secrets } from '../platform/secrets.ts';

const dayMs = 24 * 3600_000;

/** A key is published for this long before it signs, because platforms cache key sets. */
const announcedMs = dayMs;
/** The age at which a signer gets a successor. */
const signingMs = 90 * dayMs;
/** A key stays published for this long after its last signature. */
const retiredMs = 30 * dayMs;

/** How long a process caches a key ring. */
const cacheMs = 5 * 60_000;
const maxCached = 1_000;

/**
 * Lectern's own keys (RS256, 2048 bits), which sign its messages to learning platforms. Each registration in a platform
 * has its own key set: what Lectern signs for one platform means nothing to another, whatever client id or
 * audience a platform names.
 */
export interface LtiKeys {
  /**
   * Returns the signing key of a key set. The first call creates the key set.
   *
   * @throws {LecternError} INTERNAL_ERROR if the stored key was encrypted with another LECTERN_KEY_PEPPER.
   */
  signer(keySetId: string): Promise<SigningKey>;
  /**
   * Returns a key set for its platform: current, future and recent keys; null if it does not exist. The first call
   * creates that of an invitation.
   */
  publicKeys(keySetId: string): Promise<{ keys: PublicRsaKey[] } | null>;
}

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
}

/** An element of the JWK set. */
export interface PublicRsaKey {
  kty: 'RSA';
  kid: string;
  use: 'sig';
  alg: 'RS256';
  n: string;
  e: string;
}

interface KeyRing {
  signer: LtiKey;
  published: LtiKey[];
}

/**
 * Stores keys in MongoDB, with encrypted private parts, and rotates them without interruption: a successor is published
 * a day before it signs, and its predecessor for a month after.
 *
 * @param now the clock; tests replace it.
 */
export function createLtiKeys(
  db: Database,
  { keyPepper }: Pick<Secrets, 'keyPepper'>,
  now: () => Date = () => new Date(),
): LtiKeys {
  const rings = new LRUCache<string, { at: number; ring: Promise<KeyRing> }>({ max: maxCached });
  const opened = new LRUCache<string, SigningKey>({ max: maxCached });

  const cachedRing = (keySetId: string, at: number): Promise<KeyRing> | undefined => {
    const cached = rings.get(keySetId);
    return cached !== undefined && at - cached.at < cacheMs ? cached.ring : undefined;
  };

  const load = (keySetId: string): Promise<KeyRing> => {
    const at = now().getTime();
    const cached = cachedRing(keySetId, at);
    if (cached !== undefined) return cached;
    const loading = { at, ring: loadRing(db, keySetId, keyPepper, new Date(at)) };
    rings.set(keySetId, loading);
    // Current callers get the rejection, and the next caller retries.
    loading.ring.catch(() => rings.peek(keySetId) === loading && rings.delete(keySetId));
    return loading.ring;
  };

  return {
    async signer(keySetId) {
      const { signer } = await load(keySetId);
      const key = opened.get(signer._id) ?? {
        kid: signer._id,
        privateKey: await openPrivateKey(signer, keyPepper),
      };
      opened.set(key.kid, key);
      return key;
    },
    async publicKeys(keySetId) {
      // Anyone may ask for any id, also that of a removed platform: only those of invitations get their first key.
      const cached = cachedRing(keySetId, now().getTime());
      if (cached === undefined && (await listLtiKeys(db, keySetId)).length === 0) {
        if (!(await isInvitedKeySet(db, { keySetId }))) return null;
      }
      const { published } = await (cached ?? load(keySetId));
      return { keys: published.map(({ publicJwk }) => JSON.parse(publicJwk) as PublicRsaKey) };
    },
  };
}

async function loadRing(db: Database, keySetId: string, pepper: string, now: Date): Promise<KeyRing> {
  const keys = await listLtiKeys(db, keySetId);
  const ring = toRing(keys, now);
  const [newest] = keys;
  if (newest !== undefined && ring !== null && !needsSuccessor(ring.signer, newest, now)) return ring;
  const oldest = ring?.published.at(-1);
  if (oldest !== undefined) await removeLtiKeysBefore(db, keySetId, oldest.generation);
  await addLtiKey(db, await createKey(keySetId, (newest?.generation ?? 0) + 1, pepper, now));
  const renewed = toRing(await listLtiKeys(db, keySetId), now);
  if (renewed === null) throw new Error('another process removed the new LTI key');
  return renewed;
}

/** @param keys the newest first. */
function toRing(keys: LtiKey[], now: Date): KeyRing | null {
  const age = ({ createdAt }: LtiKey) => now.getTime() - createdAt.getTime();
  const signer = keys.find((key) => age(key) >= announcedMs) ?? keys.at(-1);
  if (signer === undefined) return null;
  const published = keys.filter((key, index) => {
    const successor = keys[index - 1];
    return (
      key.generation >= signer.generation ||
      successor === undefined ||
      age(successor) < announcedMs + retiredMs
    );
  });
  return { signer, published };
}

function needsSuccessor(signer: LtiKey, newest: LtiKey, now: Date): boolean {
  return newest === signer && now.getTime() - signer.createdAt.getTime() >= signingMs;
}

async function createKey(
  keySetId: string,
  generation: number,
  pepper: string,
  createdAt: Date,
): Promise<LtiKey> {
  const kid = randomUUID();
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
  return {
    _id: kid,
    keySetId,
    generation,
    publicJwk: JSON.stringify(publicJwk),
    privateJwk: seal(JSON.stringify(await exportJWK(privateKey)), sealScope(keySetId, kid), pepper),
    createdAt,
  };
}

/** @throws {LecternError} */
async function openPrivateKey(
  { _id: kid, keySetId, privateJwk }: LtiKey,
  pepper: string,
): Promise<CryptoKey> {
  let jwk: string;
  try {
    jwk = unseal(privateJwk, sealScope(keySetId, kid), pepper);
  } catch (error) {
    throw new LecternError(
      'INTERNAL_ERROR',
      'The LTI keys were encrypted with another LECTERN_KEY_PEPPER. Set it to its earlier value. If that is lost, empty ' +
        'the collection ltiKeys in MongoDB and restart Lectern: it creates new keys, and platforms fetch ' +
        'them.',
      { cause: error },
    );
  }
  // importJWK returns bytes only for symmetric keys.
  return (await importJWK(JSON.parse(jwk) as JWK, 'RS256')) as CryptoKey;
}

/** Each key is sealed for its key set and its kid. */
function sealScope(keySetId: string, kid: string): SealScope {
  return { purpose: 'lectern lti keys', id: `${keySetId}/${kid}` };
}
