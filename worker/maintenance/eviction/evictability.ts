import { inUseMs } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import type { FileTimes } from './eviction-claims.ts';

/** Learners' URLs expire after two hours at most, and only Redis knows their files. */
const urlMs = 2 * 3_600_000;

/** The use of a file, for an evictor. */
export interface FileUse {
  /** Milliseconds; 0 for an archive that no request can get any more. */
  usedAt: number;
  /** Whether it is evictable only when all its owners exceed their share. */
  isPinned: boolean;
}

/**
 * Returns the last use of a file, and whether it is pinned. A signed URL pins a file. An archive is also pinned if it
 * was used, but not stored, in the last minute. Readers of such an archive can read it to its end without the store.
 */
export function usageOf(
  now: number,
  file: EvictableFile,
  { stored, used, pinned }: FileTimes & { stored: number },
): FileUse {
  if (pinned > now) return { usedAt: Math.max(stored, used), isPinned: true };
  // The URL may have been used until its expiry.
  const usedAt = Math.max(stored, used, pinned);
  const inUse = now - inUseMs;
  return { usedAt, isPinned: file.startsWith('archives:') && stored < inUse && usedAt >= inUse };
}

/**
 * Returns whether a file may be evicted. Usage that Redis has lost is complete again after a minute, except for
 * learners' URLs.
 */
export function isEvictable(
  { now, knownSince }: { now: number; knownSince: number },
  { file, usedAt, isPinned }: FileUse & { file: EvictableFile },
): boolean {
  const isArchive = file.startsWith('archives:');
  const known = isArchive ? inUseMs : urlMs;
  return now - knownSince >= known && (usedAt < now - inUseMs || (isArchive && isPinned));
}
