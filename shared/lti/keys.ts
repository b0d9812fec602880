import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { LecternError } from '../platform/errors.ts';
import type { Database } from '../models/database.ts';
import { addLtiKey, listLtiKeys, removeLtiKeysBefore } from '../models/lti-key.ts';
import type { LtiKey } from '../models/lti-key.ts';
import type { Secrets } from '../platform/secrets.ts';

const dayMs = 24 * 3600_000;

/** A key is published for this long before it signs: platforms keep what they fetched for a while. */
const announcedMs = dayMs;
/** The age at which a signer gets a successor. */
const signingMs = 90 * dayMs;
/** A key stays published for this long after it has signed for the last time. */
const retiredMs = 30 * dayMs;

/** How long a process goes by the keys that it has read. */
const cacheMs = 5 * 60_000;

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Lectern's own keys, with which it signs what it sends to learning platforms. RS256, 2048 bits. */
export interface LtiKeys {
  /**
   * The key to sign with. The first one is made when it is first asked for.
   *
   * @throws {LecternError} INTERNAL_ERROR when the stored key was encrypted with another LECTERN_KEY_PEPPER.
   */
  signer(): Promise<{ kid: string; privateKey: CryptoKey }>;
  /** What platforms check signatures with: the keys that sign, did or will. */
  publicKeys(): Promise<{ keys: PublicRsaKey[] }>;
}

/** A public key as the JWK set has it. */
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
 * Keys live in MongoDB, the private parts encrypted, and follow each other without a cut: a successor is published a
 * day before it signs, and its predecessor for a month after.
 *
 * @param now a test's clock.
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
    // Who asked hears of the failure; the next one tries anew.
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
  await addLtiKey(db, await makeKey((newest?.generation ?? 0) + 1, pepper, now));
  const renewed = toRing(await listLtiKeys(db), now);
  if (renewed === null) throw new Error('a key of LTI was removed just after it had been made');
  return renewed;
}

/** @param keys the newest first. */
function toRing(keys: LtiKey[], now: Date): KeyRing | null {
  const age = ({ createdAt }: LtiKey) => now.getTime() - createdAt.getTime();
  const signer = keys.find((key) => age(key) >= announcedMs) ?? keys.at(-1);
  if (signer === undefined) return null;
  const published = keys.filter((key, place) => {
    const successor = keys[place - 1];
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

async function makeKey(generation: number, pepper: string, createdAt: Date): Promise<LtiKey> {
  const kid = randomUUID();
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
  return {
    _id: kid,
    generation,
    publicJwk: JSON.stringify(publicJwk),
    privateJwk: encrypt(JSON.stringify(await exportJWK(privateKey)), kid, pepper),
    createdAt,
  };
}

/** @throws {LecternError} */
async function openPrivateKey({ _id: kid, privateJwk }: LtiKey, pepper: string): Promise<CryptoKey> {
  let jwk: string;
  try {
    jwk = decrypt(privateJwk, kid, pepper);
  } catch (error) {
    throw new LecternError(
      'INTERNAL_ERROR',
      'The keys of LTI were encrypted with another LECTERN_KEY_PEPPER than this one. Set it to what it was; or, where ' +
        'that is lost, empty the collection ltiKeys in MongoDB and start Lectern anew: it makes new keys, and ' +
        'platforms fetch them from /lti/jwks.',
      { cause: error },
    );
  }
  // Only a key of bytes comes as bytes.
  return (await importJWK(JSON.parse(jwk) as JWK, 'RS256')) as CryptoKey;
}

/** The nonce, the tag, and the text encrypted, in base64. The kid is sealed in, so that rows cannot be swapped. */
function encrypt(text: string, kid: string, pepper: string): string {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, encryptionKey(pepper), iv).setAAD(Buffer.from(kid));
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
  return Buffer.concat([iv, sealing.getAuthTag(), sealed]).toString('base64');
}

/** @throws {Error} when the text was encrypted otherwise, or is damaged. */
function decrypt(encrypted: string, kid: string, pepper: string): string {
  const bytes = Buffer.from(encrypted, 'base64');
  const opening = createDecipheriv(cipher, encryptionKey(pepper), bytes.subarray(0, ivBytes))
    .setAAD(Buffer.from(kid))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  return opening.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + opening.final('utf8');
}

function encryptionKey(pepper: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', pepper, '', 'lectern lti keys', 32));
}
