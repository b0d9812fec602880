/** How retries are spaced. */
export interface Backoff {
  /** The pause after the first failure, in milliseconds. */
  firstMs: number;
  /** The longest pause, in milliseconds; none unless given. */
  maxMs?: number;
}

/**
 * Returns the pause before a retry, in milliseconds: exponential backoff with jitter. The upper half of the pause is
 * random, so that clients that failed together do not return together.
 *
 * @param failures in a row, without the last one: 0 after the first failure.
 * @param options.retryAfterMs what the server asks for; the pause is no shorter.
 * @param options.random from 0 to 1.
 */
export function backoffMs(
  backoff: Backoff,
  failures: number,
  { retryAfterMs = 0, random = Math.random() }: { retryAfterMs?: number | undefined; random?: number } = {},
): number {
  return Math.max(doubledMs(backoff, failures) * (0.5 + random / 2), retryAfterMs);
}

/** Returns the same without jitter: `firstMs`, doubled for each earlier failure, up to `maxMs`. */
export function doubledMs({ firstMs, maxMs = Infinity }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** failures, maxMs);
}

/**
 * Returns the milliseconds that a Retry-After header asks for (RFC 9110, 10.2.3): seconds, or a date. Undefined without
 * the header, or where it cannot be read.
 */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
