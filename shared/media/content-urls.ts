import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedUrl } from './asset-urls.ts';

/**
 * Signed addresses of the media and widgets of one version: what the page that plays a lesson is given in
 * place of a token. Whoever has one may fetch these files until it expires, and nothing else; it names no learner.
 *
 * ```
 * /content/v1/{lessonId}/{versionId}/{expires, Unix time}/{signature, base64url}/
 * ```
 *
 * `media/{mediaId}`, `widgets/{type}.js` and `widgets/{type}.css` stand behind it. The signature is the HMAC-SHA-256
 * of the parts before it, and of whether the version may be a draft.
 */

/** Whose files an address opens. */
export interface ContentScope {
  lessonId: string;
  versionId: string;
  /** Whether it was given out for a preview, and so serves a draft too. False when left out. */
  preview?: boolean;
}

const halfHourSeconds = 1800;

/**
 * Nothing ends an address that was given out before it expires, a revocation of its token neither: it lives only as
 * long as a page needs that renews it in time (player/embed-page/renewal.ts).
 */
const leastSeconds = 3600;

/**
 * Returns an address that is good for 60 to 90 minutes. It ends on the half hour, so that all learners of a version
 * get the same one for half an hour, and caches know its files again.
 *
 * @param options.base what stands before the path.
 */
export function signContentUrl(
  secret: string,
  of: ContentScope,
  options: { base?: string | undefined; now?: number } = {},
): SignedUrl {
  const { base, now = Date.now() } = options;
  const expires = (Math.floor(now / 1000 / halfHourSeconds) + 1) * halfHourSeconds + leastSeconds;
  return signUntil(secret, of, expires, base);
}

/**
 * The address for a preview: it serves a draft too, and no longer than the token of the preview.
 *
 * @param expiresAt Unix time in seconds, that of the token.
 * @param base what stands before the path.
 */
export function signPreviewUrl(
  secret: string,
  of: Omit<ContentScope, 'preview'>,
  expiresAt: number,
  base?: string,
): SignedUrl {
  return signUntil(secret, { ...of, preview: true }, expiresAt, base);
}

function signUntil(secret: string, of: ContentScope, expires: number, base = ''): SignedUrl {
  const signature = signatureOf(secret, of, `${expires}`);
  return {
    url: `${base}/content/v1/${of.lessonId}/${of.versionId}/${expires}/${signature}/`,
    expiresAt: new Date(expires * 1000),
  };
}

/** Whether these parts of an address were signed with this secret, and it has not expired. */
export function isContentUrl(
  secret: string,
  { expires, signature, ...of }: ContentScope & { expires: string; signature: string },
  now = Date.now(),
): boolean {
  if (!/^[1-9]\d{0,10}$/.test(expires)) return false;
  const expected = Buffer.from(signatureOf(secret, of, expires));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  return Number(expires) * 1000 > now;
}

/** A path as it may be logged: without the signature, if it has one. */
export function redactContentSignature(path: string): string {
  return path.replace(/^(\/content\/v1(?:\/[^/]*){3}\/)[^/]+/, '$1-');
}

function signatureOf(
  secret: string,
  { lessonId, versionId, preview = false }: ContentScope,
  expires: string,
): string {
  const signed = [preview ? 'lectern-preview-v1' : 'lectern-content-v1', lessonId, versionId, expires].join(
    '\n',
  );
  return createHmac('sha256', secret).update(signed).digest('base64url');
}
