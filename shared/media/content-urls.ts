import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedUrl } from './asset-urls.ts';

/**
 * Signed URLs of the media and widgets of one version, for the page that plays a lesson. They take the place of a token,
 * open nothing but these files until they expire, and name no learner.
 *
 * ```
 * /content/v1/{lessonId}/{versionId}/{expires, Unix time}/{signature, base64url}/
 * ```
 *
 * `media/{mediaId}`, `widgets/{type}.js` and `widgets/{type}.css` follow. The signature is the HMAC-SHA-256 of the parts
 * before it and of the kind: only a preview URL opens a draft.
 */

/** The version whose files a URL opens. */
export interface ContentScope {
  lessonId: string;
  versionId: string;
  /** Whether the URL belongs to a preview and therefore opens a draft too; false by default. */
  preview?: boolean;
}

const halfHourSeconds = 1800;

/**
 * Revoking the token does not end a URL before its expiry. It therefore expires soon, and the page renews it
 * (player/embed-page/renewal.ts).
 */
const minSeconds = 3600;

/**
 * Returns a URL that is valid for 60 to 90 minutes. The expiry is rounded to the half hour, so that all learners of a
 * version get the same URL for half an hour, and caches recognize its files.
 *
 * @param options.base precedes the path.
 */
export function signContentUrl(
  secret: string,
  of: ContentScope,
  options: { base?: string | undefined; now?: number } = {},
): SignedUrl {
  const { base, now = Date.now() } = options;
  const expires = (Math.floor(now / 1000 / halfHourSeconds) + 1) * halfHourSeconds + minSeconds;
  return signUntil(secret, of, expires, base);
}

/**
 * Returns a URL that also opens a draft, and expires with the token of the preview.
 *
 * @param expiresAt Unix time in seconds.
 * @param base precedes the path.
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

/** Returns whether these parts of a URL were signed with this secret and have not expired. */
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

/** Returns a path for the log: without its signature, if it has one. */
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
