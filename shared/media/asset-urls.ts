import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Signed addresses of files in the store. Whoever has one may fetch the file until it expires, with GET and HEAD.
 * All that serving needs is in the path, so that it asks no database:
 *
 * ```
 * /assets/v1/{area}/{sha256}/{size}/{type}/{subtype}/{file name}?expires={Unix time}&signature={base64url}
 * ```
 *
 * The signature is the HMAC-SHA-256 of version, path and expiry.
 */

/** A file of the store, as an address names it. */
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

const typePattern = '[a-z0-9][\\w.+-]*/[a-z0-9][\\w.+-]*';
const wholeType = new RegExp(`^${typePattern}$`);
const pathPattern = new RegExp(
  `^/assets/v1/(assets|cache)/([0-9a-f]{64})/(0|[1-9]\\d{0,15})/(${typePattern})/([\\w.-]+)$`,
);

/**
 * Returns an address that is good until the given time, or else for at least `seconds` (an hour) and at most half an
 * hour more. That ends on the half hour, so that all who ask within half an hour get the same one, and caches know it
 * again.
 *
 * @param options.until in whole seconds; a part of one is left out.
 * @param options.base what stands before the path: the public address; nothing for an address on this server.
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
  if (!pathPattern.test(path)) throw new Error(`${JSON.stringify(fileName)} cannot stand in an address`);
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
 * What a signed address names; null when it was not signed with this secret, was changed since, or has expired.
 *
 * @param address the path of a request, as it was sent, and its query.
 */
export function readAssetUrl(
  secret: string,
  address: { path: string; expires: unknown; signature: unknown },
  now = Date.now(),
): (Asset & { expiresAt: Date }) | null {
  const { path, expires, signature } = address;
  if (typeof expires !== 'string' || !/^[1-9]\d{0,10}$/.test(expires) || typeof signature !== 'string') {
    return null;
  }
  const expected = Buffer.from(signatureOf(secret, path, Number(expires)));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const expiresAt = new Date(Number(expires) * 1000);
  if (expiresAt.getTime() <= now) return null;
  const [, area, sha256 = '', size, mimeType = '', fileName = ''] = pathPattern.exec(path) ?? [];
  if (area !== 'assets' && area !== 'cache') return null;
  return { area, sha256, size: Number(size), mimeType, fileName, expiresAt };
}

function signatureOf(secret: string, path: string, expires: number): string {
  return createHmac('sha256', secret).update(`lectern-asset-v1\n${path}\n${expires}`).digest('base64url');
}
