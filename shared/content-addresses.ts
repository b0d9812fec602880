import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedAddress } from './asset-addresses.ts';

/**
 * Signed addresses of the media and widgets of one published version: what the page that plays a lesson is given in
 * place of a token. Whoever has one may fetch these files until it expires, and nothing else; it names no learner.
 *
 * ```
 * /content/v1/{lessonId}/{versionId}/{expires, Unix time}/{signature, base64url}/
 * ```
 *
 * `media/{mediaId}`, `widgets/{type}.js` and `widgets/{type}.css` stand behind it. The signature is the HMAC-SHA-256
 * of the parts before it.
 */

/** Whose files an address opens. */
export interface ContentOf {
  lessonId: string;
  versionId: string;
}

const hourSeconds = 3600;

/** Longer than most learners sit before one lesson; a page that stays open longer asks for another. */
const leastSeconds = 4 * hourSeconds;

/**
 * An address that serves for 4 to 5 hours. It ends on the hour, so that all learners of a version have the same one
 * for an hour, and caches know its files again.
 *
 * @param options.base what stands before the path.
 */
export function signContentAddress(
  secret: string,
  { lessonId, versionId }: ContentOf,
  options: { base?: string | undefined; now?: number } = {},
): SignedAddress {
  const { base = '', now = Date.now() } = options;
  const expires = (Math.floor(now / 1000 / hourSeconds) + 1) * hourSeconds + leastSeconds;
  const signature = signatureOf(secret, { lessonId, versionId }, `${expires}`);
  return {
    url: `${base}/content/v1/${lessonId}/${versionId}/${expires}/${signature}/`,
    expiresAt: new Date(expires * 1000),
  };
}

/** Whether these parts of an address were signed with this secret, and it has not expired. */
export function isContentAddress(
  secret: string,
  { expires, signature, ...of }: ContentOf & { expires: string; signature: string },
  now = Date.now(),
): boolean {
  if (!/^[1-9]\d{0,10}$/.test(expires)) return false;
  const expected = Buffer.from(signatureOf(secret, of, expires));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  return Number(expires) * 1000 > now;
}

/** A path as it may be logged: without the signature, if it has one. */
export function withoutContentSignature(path: string): string {
  return path.replace(/^(\/content\/v1(?:\/[^/]*){3}\/)[^/]+/, '$1-');
}

function signatureOf(secret: string, { lessonId, versionId }: ContentOf, expires: string): string {
  const signed = ['lectern-content-v1', lessonId, versionId, expires].join('\n');
  return createHmac('sha256', secret).update(signed).digest('base64url');
}
