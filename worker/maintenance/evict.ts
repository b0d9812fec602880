import pLimit from 'p-limit';
import type { StoreLimits } from '../../shared/storage/store-limits.ts';
import { useResolutionMs } from '../../shared/storage/store.ts';
import type { Store, StoredCopy } from '../../shared/storage/store.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** No copy is evicted before it was unused for this long. */
const unusedMs = 24 * hourMs;

/** On a full disk, this time suffices: URLs of manifests, which live longest, are valid for four hours. */
const unusedOnFullDiskMs = 6 * hourMs;

/** Above STORE_MAX_BYTES eviction continues down to this share of it, so that it does not run at every new file. */
const lowWaterMark = 0.9;

/** On a full disk at least this share of the copies is evicted, so that the next builds have room too. */
const fullDiskShare = 0.1;

/** Removals at once: each is a request to a bucket, or some disk accesses. */
const concurrentRemovals = 8;

/** The number and bytes of evicted copies. */
export interface Evicted {
  files: number;
  bytes: number;
}

interface Goal {
  /** The minimum time without use. */
  unusedMs: number;
  /** All copies go that were unused for this long. */
  maxAgeMs: number;
  /** Returns how many bytes to free, for the bytes of all copies. */
  bytes: (total: number) => number;
}

/**
 * Evicts the copies that were unused for STORE_MAX_AGE. Over STORE_MAX_BYTES it also evicts those that were unused
 * longest, but none that was used within a day.
 *
 * @throws the first failure to remove a copy, after the others.
 */
export async function keepLimits(
  store: Pick<Store, 'copies'>,
  { maxBytes, maxAgeHours }: StoreLimits,
  signal?: AbortSignal,
): Promise<Evicted> {
  if (maxBytes === 0 && maxAgeHours === 0) return { files: 0, bytes: 0 };
  const goal: Goal = {
    unusedMs,
    maxAgeMs: maxAgeHours === 0 ? Infinity : maxAgeHours * hourMs,
    bytes: (total) => (maxBytes > 0 && total > maxBytes ? total - maxBytes * lowWaterMark : 0),
  };
  return evict(store, goal, signal);
}

/**
 * Frees at least `bytes` on a full disk if possible, without copies that a running build may have found.
 *
 * @param options.buildSeconds the longest time of a build.
 */
export async function makeRoom(
  store: Pick<Store, 'copies'>,
  { bytes, buildSeconds }: { bytes: number; buildSeconds: number },
): Promise<Evicted> {
  return evict(store, {
    unusedMs: Math.max(unusedOnFullDiskMs, buildSeconds * 1000),
    maxAgeMs: Infinity,
    bytes: (total) => Math.max(bytes, total * fullDiskShare),
  });
}

async function evict({ copies }: Pick<Store, 'copies'>, goal: Goal, signal?: AbortSignal): Promise<Evicted> {
  const now = Date.now() - useResolutionMs;
  const isEvictable = ({ usedAt }: StoredCopy) => usedAt.getTime() <= now - goal.unusedMs;
  // Sums by minute take little memory, however many files there are.
  const unusedBytes = new Map<number, number>();
  let total = 0;
  for await (const page of copies.list()) {
    signal?.throwIfAborted();
    for (const copy of page) {
      total += copy.size;
      if (!isEvictable(copy)) continue;
      unusedBytes.set(minuteOf(copy), (unusedBytes.get(minuteOf(copy)) ?? 0) + copy.size);
    }
  }
  const oldest = Math.floor((now - Math.max(goal.maxAgeMs, goal.unusedMs)) / minuteMs);
  const lastMinute = findLastMinute(unusedBytes, { oldest, bytes: goal.bytes(total) });

  const evicted: Evicted = { files: 0, bytes: 0 };
  if (lastMinute === null) return evicted;
  const limit = pLimit(concurrentRemovals);
  const failures: unknown[] = [];
  for await (const page of copies.list()) {
    signal?.throwIfAborted();
    const unused = page.filter((copy) => isEvictable(copy) && minuteOf(copy) <= lastMinute);
    const removals = unused.map((copy) =>
      limit(async () => {
        if (!(await copies.evict(copy, new Date(now - goal.unusedMs)))) return;
        evicted.files += 1;
        evicted.bytes += copy.size;
      }),
    );
    for (const removal of await Promise.allSettled(removals)) {
      if (removal.status === 'rejected') failures.push(removal.reason);
    }
  }
  if (failures.length > 0) throw failures[0];
  return evicted;
}

const minuteOf = ({ usedAt }: StoredCopy) => Math.floor(usedAt.getTime() / minuteMs);

/**
 * Returns the minute such that all copies that were last used in it or before are to be evicted: all of minutes before
 * `oldest`, and at least `bytes`. Null for none.
 */
function findLastMinute(
  unusedBytes: ReadonlyMap<number, number>,
  { oldest, bytes }: { oldest: number; bytes: number },
): number | null {
  let left = bytes;
  let last: number | null = null;
  for (const [minute, size] of [...unusedBytes].sort(([a], [b]) => a - b)) {
    if (minute >= oldest && left <= 0) break;
    last = minute;
    left -= size;
  }
  return last;
}
