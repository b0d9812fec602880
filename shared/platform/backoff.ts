/** The spacing of retries. */
export interface Backoff {
  /** The delay after the first failure. */
  firstMs: number;
  /** The longest delay; unlimited by default. */
  maxMs?: number;
}

/**
 * Returns the delay before a retry, in milliseconds: exponential backoff with jitter. The upper half of the delay is
 * random (jitter), so that clients that failed together do not retry together.
 *
 * @param failures the number of consecutive failures before the last one: 0 after the first.
 * @param options.retryAfterMs the delay in the server's Retry-After header; the result is no shorter.
 * @param options.random from 0 to 1.
 */
export function backoffMs(
  backoff: Backoff,
  failures: number,
  { retryAfterMs = 0, random = Math.random() }: { retryAfterMs?: number | undefined; random?: number } = {},
): number {
  return Math.max(withJitter(doubledMs(backoff, failures), [0.5, 1], random), retryAfterMs);
}

/** Returns a delay with jitter: its product with a random factor from `least` to `most`. @param random from 0 to 1. */
export function withJitter(delayMs: number, [least, most]: [number, number], random = Math.random()): number {
  return delayMs * (least + (most - least) * random);
}

/** Returns the same without jitter: `firstMs`, doubled for each earlier failure, up to `maxMs`. */
export function doubledMs({ firstMs, maxMs = Infinity }: Backoff, failures: number): number {
  return Math.min(firstMs * 2 ** failures, maxMs);
}

/**
 * Parses a Retry-After header (RFC 9110, 10.2.3), which has seconds or a date, to milliseconds. Returns undefined if the
 * header is missing or invalid.
 */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
