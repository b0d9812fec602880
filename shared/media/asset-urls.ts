import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Signed URLs of files in the store. The holder may GET and HEAD the file until the URL expires. The path contains
 * everything that serving needs, so Lectern makes no database query:
 *
 * ```
 * /assets/v1/{area}/{sha256}/{size}/{type}/{subtype}/{file name}?expires={Unix time}&signature={base64url}
 * ```
 *
 * The signature is the HMAC-SHA-256 of version, path and expiry.
 */

/** A file of the store as its URL names it. */
export interface Asset {
  area: 'assets' | 'cache';
  /** Lower-case hex. */
  sha256: string;
  /** Bytes. */
  size: number;
  /** Without parameters. */
  mimeType: string;
  /** Letters, digits, `_`, `.` and `-`. */
  fileName: string;
}

export interface SignedUrl {
  url: string;
  expiresAt: Date;
}

const hourSeconds = 3600;
const halfHourSeconds = 1800;

/** Lectern signs no URL for longer: those of logos and fonts last longest. */
export const maxAssetUrlSeconds = 60 * 24 * hourSeconds;

const typePattern = '[a-z0-9][\\w.+-]*/[a-z0-9][\\w.+-]*';
const wholeType = new RegExp(`^${typePattern}$`);
const pathPattern = new RegExp(
  `^/assets/v1/(assets|cache)/([0-9a-f]{64})/(0|[1-9]\\d{0,15})/(${typePattern})/([\\w.-]+)$`,
);

/**
 * Returns a URL that expires at the given time. Without one, the URL is valid for `seconds` (an hour by default),
 * rounded up to the next half hour. Requests within half an hour therefore get the same URL, which caches recognize.
 *
 * @param options.until rounded down to whole seconds.
 * @param options.base the public URL, which precedes the path; empty for a URL on this server.
 */
export function signAssetUrl(
  secret: string,
  { area, sha256, size, mimeType, fileName }: Asset,
  options: { until?: Date; seconds?: number; base?: string | undefined; now?: number } = {},
): SignedUrl {
  const { until, seconds = hourSeconds, base = '', now = Date.now() } = options;
  const lowerCase = mimeType.toLowerCase();
  const type = wholeType.test(lowerCase) ? lowerCase : 'application/octet-stream';
  const path = `/assets/v1/${area}/${sha256}/${size}/${type}/${fileName}`;
  if (!pathPattern.test(path))
    throw new Error(`${JSON.stringify(fileName)} must contain only letters, digits, "_", "." and "-"`);
  const expires =
    until === undefined
      ? (Math.floor(now / 1000 / halfHourSeconds) + 1) * halfHourSeconds + seconds
      : Math.floor(until.getTime() / 1000);
  return {
    url: `${base}${path}?expires=${expires}&signature=${signatureOf(secret, path, expires)}`,
    expiresAt: new Date(expires * 1000),
  };
}

/**
 * Returns the file that a signed URL names; null for a URL that has expired, was changed, was signed with another
 * secret, or lasts longer than Lectern signs.
 *
 * @param request path and query of a request, unchanged.
 */
export function readAssetUrl(
  secret: string,
  request: { path: string; expires: unknown; signature: unknown },
  now = Date.now(),
): (Asset & { expiresAt: Date }) | null {
  const { path, expires, signature } = request;
  if (typeof expires !== 'string' || !/^[1-9]\d{0,10}$/.test(expires) || typeof signature !== 'string') {
    return null;
  }
  const expected = Buffer.from(signatureOf(secret, path, Number(expires)));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const expiresAt = new Date(Number(expires) * 1000);
  const leftMs = expiresAt.getTime() - now;
  if (leftMs <= 0 || leftMs > maxAssetUrlSeconds * 1000) return null;
  const [, area, sha256 = '', size, mimeType = '', fileName = ''] = pathPattern.exec(path) ?? [];
  if (area !== 'assets' && area !== 'cache') return null;
  return { area, sha256, size: Number(size), mimeType, fileName, expiresAt };
}

function signatureOf(secret: string, path: string, expires: number): string {
  return createHmac('sha256', secret).update(`lectern-asset-v1\n${path}\n${expires}`).digest('base64url');
}
