import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const publicKeyPattern = /^lkp_[0-9A-Za-z]{24}$/;
const secretKeyPattern = /^lks_[0-9A-Za-z]{43}$/;

/** API credentials of an organization: `PUBLIC_KEY.SECRET_KEY` in the Authorization header. */
export interface Credentials {
  publicKey: string;
  secretKey: string;
}

/** A fresh pair; the secret has 256 bits of randomness. */
export function generateCredentials(): Credentials {
  return { publicKey: `lkp_${randomText(24)}`, secretKey: `lks_${randomText(43)}` };
}

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}

/** The credentials in an Authorization header, or null where it holds none that could be right. */
export function parseBearer(header: string | undefined): Credentials | null {
  const match = /^Bearer +([^\s.]+)\.([^\s.]+)$/i.exec(header ?? '');
  const [publicKey, secretKey] = [match?.[1], match?.[2]];
  if (publicKey === undefined || secretKey === undefined) return null;
  return publicKeyPattern.test(publicKey) && secretKeyPattern.test(secretKey)
    ? { publicKey, secretKey }
    : null;
}

/** What is stored of a secret. The secret is random, so a fast keyed hash is as good as a slow one. */
export function hashSecretKey(secretKey: string, pepper: string): string {
  return createHmac('sha256', pepper).update(secretKey).digest('hex');
}

/** Compares in constant time; an unknown key is compared too, so that timing does not tell it from a known one. */
export function secretKeyMatches(secretKey: string, storedHash: string | null, pepper: string): boolean {
  const given = Buffer.from(hashSecretKey(secretKey, pepper), 'hex');
  const stored = storedHash === null ? Buffer.alloc(given.length) : Buffer.from(storedHash, 'hex');
  return timingSafeEqual(given, stored) && storedHash !== null;
}
