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
 * `media/{mediaId}`, `widgets/{type}.js` and `widgets/{type}.css` follow, or `chunks/{chunkId}` with the steps of the
 * lesson. The signature is the HMAC-SHA-256 of the parts before it and of the kind: only a preview URL opens a version that
 * is not published.
 */

/** The version that a URL belongs to. */
export interface ContentScope {
  lessonId: string;
  versionId: string;
}

/**
 * The content that a URL opens. `files`: media and widgets of a published version. `chunks`: its steps. `preview`: all
 * of these, also of a version that is not published. `draft`: files that the draft which began with the version may use,
 * which are all of the organization.
 */
export type ContentKind = 'files' | 'chunks' | 'preview' | 'draft';

const halfHourSeconds = 1800;

/**
 * Revoking the token does not revoke a URL. A URL therefore expires soon, and the page renews it
 * (player/embed-page/renewal.ts).
 */
const minSeconds = 3600;

/**
 * Returns a URL of files or steps that is valid for 60 to 90 minutes. The expiry is rounded to the half hour, so that all
 * learners of a version get the same URL for half an hour, and caches recognize its files.
 *
 * @param options.base precedes the path.
 */
export function signContentUrl(
  secret: string,
  kind: Exclude<ContentKind, 'preview'>,
  of: ContentScope,
  options: { base?: string | undefined; now?: number } = {},
): SignedUrl {
  const { base, now = Date.now() } = options;
  const expires = (Math.floor(now / 1000 / halfHourSeconds) + 1) * halfHourSeconds + minSeconds;
  return signUntil(secret, kind, of, { expires, base });
}

/**
 * Returns a URL that also opens a draft, and expires with the token of the preview.
 *
 * @param expiresAt Unix time in seconds.
 * @param base precedes the path.
 */
export function signPreviewUrl(
  secret: string,
  of: ContentScope,
  expiresAt: number,
  base?: string,
): SignedUrl {
  return signUntil(secret, 'preview', of, { expires: expiresAt, base });
}

function signUntil(
  secret: string,
  kind: ContentKind,
  of: ContentScope,
  { expires, base = '' }: { expires: number; base?: string | undefined },
): SignedUrl {
  const signature = signatureOf(secret, kind, of, `${expires}`);
  return {
    url: `${base}/content/v1/${of.lessonId}/${of.versionId}/${expires}/${signature}/`,
    expiresAt: new Date(expires * 1000),
  };
}

/** Returns whether these parts of a URL were signed with this secret and have not expired. */
export function isContentUrl(
  secret: string,
  kind: ContentKind,
  { expires, signature, ...of }: ContentScope & { expires: string; signature: string },
  now = Date.now(),
): boolean {
  if (!/^[1-9]\d{0,10}$/.test(expires)) return false;
  const expected = Buffer.from(signatureOf(secret, kind, of, expires));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  return Number(expires) > now / 1000;
}

/** Returns a path for the log: without its signature, if it has one. */
export function redactContentSignature(path: string): string {
  return path.replace(/^(\/content\/v1(?:\/[^/]*){3}\/)[^/]+/, '$1-');
}

const signedKinds: Record<ContentKind, string> = {
  files: 'lectern-content-v1',
  chunks: 'lectern-chunks-v1',
  preview: 'lectern-preview-v1',
  draft: 'lectern-draft-v1',
};

function signatureOf(
  secret: string,
  kind: ContentKind,
  { lessonId, versionId }: ContentScope,
  expires: string,
): string {
  const signed = [signedKinds[kind], lessonId, versionId, expires].join('\n');
  return createHmac('sha256', secret).update(signed).digest('base64url');
}
