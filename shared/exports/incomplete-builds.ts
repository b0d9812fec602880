import type { Redis } from 'ioredis';
import { doubledMs } from '../platform/backoff.ts';

/**
 * The longest wait between two builds of an export that stays incomplete, unless DEGRADED_EXPORT_SECONDS is
 * longer.
 */
const longestWaitMs = 3_600_000;

/** Redis forgets consecutive incomplete builds after this long without another one. */
const memoryMs = 48 * 3_600_000;

/** Counts the builds of each export that lacked files, across hosts. While Redis is down, it knows nothing. */
export class IncompleteBuilds {
  readonly #redis: Redis;
  readonly #prefix: string;

  /** @param redis a connection that fails fast. */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** Records that an incomplete archive is about to be published. */
  async record(exportKey: string): Promise<void> {
    const key = this.#keyOf(exportKey);
    await Promise.all([this.#redis.incr(key), this.#redis.pexpire(key, memoryMs)]).catch(() => undefined);
  }

  /** Forgets an export that is complete now. */
  async forget(exportKey: string): Promise<void> {
    await this.#redis.del(this.#keyOf(exportKey)).catch(() => undefined);
  }

  /**
   * Returns whether the incomplete archive of an export is served before the next build; true while Redis is down, because
   * nothing can be built then. The time begins with DEGRADED_EXPORT_SECONDS and doubles up to an hour. Without this, a file
   * that stays missing beside one that changes at each download would fill the store.
   */
  async isCurrent(exportKey: string, degradedSeconds: number): Promise<boolean> {
    const key = this.#keyOf(exportKey);
    try {
      const [builds, leftMs] = await Promise.all([this.#redis.get(key), this.#redis.pttl(key)]);
      if (builds === null) return false;
      // Measured by Redis, because the clocks of the processes may differ.
      return memoryMs - leftMs < waitMs(Number(builds), degradedSeconds * 1000);
    } catch {
      return true;
    }
  }

  #keyOf(exportKey: string): string {
    return `${this.#prefix}:incomplete-builds:${exportKey}`;
  }
}

function waitMs(builds: number, firstMs: number): number {
  if (builds <= 1) return firstMs;
  return doubledMs({ firstMs: Math.max(firstMs, 1000), maxMs: Math.max(firstMs, longestWaitMs) }, builds - 1);
}
