import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { LecternError } from '../platform/errors.ts';
import type { Database } from '../models/database.ts';
import { addLtiKey, listLtiKeys, removeLtiKeysBefore } from '../models/lti-key.ts';
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

/** How long a process caches the key ring. */
const cacheMs = 5 * 60_000;

/** Lectern's own keys (RS256, 2048 bits), which sign its messages to learning platforms. */
export interface LtiKeys {
  /**
   * Returns the signing key. The first call creates it.
   *
   * @throws {LecternError} INTERNAL_ERROR if the stored key was encrypted with another LECTERN_KEY_PEPPER.
   */
  signer(): Promise<{ kid: string; privateKey: CryptoKey }>;
  /** Returns the JWK set for platforms: current, future and recent keys. */
  publicKeys(): Promise<{ keys: PublicRsaKey[] }>;
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
  let cached: { at: number; ring: Promise<KeyRing> } | null = null;
  let opened: { kid: string; privateKey: CryptoKey } | null = null;

  const load = (): Promise<KeyRing> => {
    const at = now().getTime();
    if (cached !== null && at - cached.at < cacheMs) return cached.ring;
    const ring = loadRing(db, keyPepper, new Date(at));
    const loading = { at, ring };
    cached = loading;
    // Current callers get the rejection, and the next caller retries.
    ring.catch(() => {
      if (cached === loading) cached = null;
    });
    return ring;
  };

  return {
    async signer() {
      const { signer } = await load();
      if (opened?.kid !== signer._id) {
        opened = { kid: signer._id, privateKey: await openPrivateKey(signer, keyPepper) };
      }
      return opened;
    },
    async publicKeys() {
      const { published } = await load();
      return { keys: published.map(({ publicJwk }) => JSON.parse(publicJwk) as PublicRsaKey) };
    },
  };
}

async function loadRing(db: Database, pepper: string, now: Date): Promise<KeyRing> {
  const keys = await listLtiKeys(db);
  const ring = toRing(keys, now);
  const [newest] = keys;
  if (newest !== undefined && ring !== null && !needsSuccessor(ring.signer, newest, now)) return ring;
  const oldest = ring?.published.at(-1);
  if (oldest !== undefined) await removeLtiKeysBefore(db, oldest.generation);
  await addLtiKey(db, await createKey((newest?.generation ?? 0) + 1, pepper, now));
  const renewed = toRing(await listLtiKeys(db), now);
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

async function createKey(generation: number, pepper: string, createdAt: Date): Promise<LtiKey> {
  const kid = randomUUID();
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
  return {
    _id: kid,
    generation,
    publicJwk: JSON.stringify(publicJwk),
    privateJwk: seal(JSON.stringify(await exportJWK(privateKey)), sealScope(kid), pepper),
    createdAt,
  };
}

/** @throws {LecternError} */
async function openPrivateKey({ _id: kid, privateJwk }: LtiKey, pepper: string): Promise<CryptoKey> {
  let jwk: string;
  try {
    jwk = unseal(privateJwk, sealScope(kid), pepper);
  } catch (error) {
    throw new LecternError(
      'INTERNAL_ERROR',
      'The LTI keys were encrypted with another LECTERN_KEY_PEPPER. Set it to its earlier value. If that is lost, empty ' +
        'the collection ltiKeys in MongoDB and restart Lectern: it creates new keys, and platforms fetch them from ' +
        '/lti/jwks.',
      { cause: error },
    );
  }
  // importJWK returns bytes only for symmetric keys.
  return (await importJWK(JSON.parse(jwk) as JWK, 'RS256')) as CryptoKey;
}

/** Each key is sealed for its kid. */
function sealScope(kid: string): SealScope {
  return { purpose: 'lectern lti keys', id: kid };
}
