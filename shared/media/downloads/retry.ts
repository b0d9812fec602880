import { setTimeout as sleep } from 'node:timers/promises';

/** How often a file is tried before it counts as failed. */
export const maxTries = 3;

const firstPauseMs = 500;
const longestPauseMs = 60_000;

/**
 * Reads Retry-After (RFC 9110, 10.2.3): seconds, or a date.
 *
 * @returns milliseconds from `now`, at most a minute; undefined when there is no such header or it makes no sense.
 */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestPauseMs);
}

/**
 * How long to wait after try number `tries` (from 1) failed, in milliseconds: twice as long each time, with the upper
 * half left to chance so that files that failed together do not come back together; no sooner than the server asked.
 */
export function pauseAfter(tries: number, retryAfterMs = 0): number {
  return Math.max(firstPauseMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2), retryAfterMs);
}

/** Waits, or fails with the signal's reason as soon as it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
  signal.throwIfAborted();
}
