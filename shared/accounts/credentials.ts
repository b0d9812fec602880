import { createHmac, hkdfSync, randomInt, timingSafeEqual } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const publicKeyPattern = /^lkp_[0-9A-Za-z]{24}$/;
const secretKeyPattern = /^lks_[0-9A-Za-z]{43}$/;

/** API credentials of an organization: `PUBLIC_KEY.SECRET_KEY` in the Authorization header. */
export interface Credentials {
  publicKey: string;
  secretKey: string;
}

/** Returns new credentials; the secret has 256 random bits. */
export function generateCredentials(): Credentials {
  return { publicKey: `lkp_${randomText(24)}`, secretKey: `lks_${randomText(43)}` };
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}

/**
 * Derives credentials from an id, so that a request that is repeated with its idempotency key gets the same ones.
 *
 * @param id a random id.
 */
export function deriveCredentials(id: string, pepper: string): Credentials {
  const bytes = Buffer.from(hkdfSync('sha256', pepper, id, 'lectern api key', 512));
  // Bytes beyond the last multiple of 62 would make some characters more frequent.
  const characters = [...bytes].filter((byte) => byte < 248).map((byte) => alphabet.charAt(byte % 62));
  return {
    publicKey: `lkp_${characters.slice(0, 24).join('')}`,
    secretKey: `lks_${characters.slice(24, 24 + 43).join('')}`,
  };
}

/** Returns the credentials of an Authorization header, or null if it has none in a valid form. */
export function parseBearer(header: string | undefined): Credentials | null {
  const match = /^Bearer +([^\s.]+)\.([^\s.]+)$/i.exec(header ?? '');
  const [publicKey, secretKey] = [match?.[1], match?.[2]];
  if (publicKey === undefined || secretKey === undefined) return null;
  return publicKeyPattern.test(publicKey) && secretKeyPattern.test(secretKey)
    ? { publicKey, secretKey }
    : null;
}

/**
 * Returns the hash of a secret, for storage. The secret is random, so a fast keyed hash is as safe as a slow one.
 */
export function hashSecretKey(secretKey: string, pepper: string): string {
  return createHmac('sha256', pepper).update(secretKey).digest('hex');
}

/** The stored part of credentials with which a request's secret is compared. */
export interface StoredSecret {
  secretHash: string;
}

/** Compares in constant time, even for an unknown key (null), so that timing does not reveal which keys exist. */
export function secretKeyMatches(secretKey: string, key: StoredSecret | null, pepper: string): boolean {
  const given = Buffer.from(hashSecretKey(secretKey, pepper), 'hex');
  const stored = key === null ? Buffer.alloc(given.length) : Buffer.from(key.secretHash, 'hex');
  return timingSafeEqual(given, stored) && key !== null;
}
