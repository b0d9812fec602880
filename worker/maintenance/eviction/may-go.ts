import { inUseMs } from '../../../shared/storage/file-usage.ts';
import type { EvictableFile } from '../../../shared/storage/file-usage.ts';
import type { FileTimes } from './eviction-claims.ts';

/** URLs that learners got live two hours at most, and Redis alone knows what they name. */
const urlMs = 2 * 3_600_000;

/** How an evictor sees the use of a file. */
export interface FileUse {
  /** Milliseconds; 0 for an archive that no request is answered with any more. */
  usedAt: number;
  /** Whether it may go only when all its owners hold more than their share. */
  isPinned: boolean;
}

/**
 * Returns when a file was used last, and whether it is pinned: named by a signed URL, or an archive that was used in the
 * last minute but not stored in it. Readers do not need such an archive in the store: they read it to its end.
 */
export function usageOf(
  now: number,
  file: EvictableFile,
  { stored, used, pinned }: FileTimes & { stored: number },
): FileUse {
  if (pinned > now) return { usedAt: Math.max(stored, used), isPinned: true };
  // Whoever had the URL may have used it until its expiry.
  const usedAt = Math.max(stored, used, pinned);
  const inUse = now - inUseMs;
  return { usedAt, isPinned: file.startsWith('archives:') && stored < inUse && usedAt >= inUse };
}

/** Uses that Redis has lost are noted again within a minute, but for what learners' URLs name. */
export function isEvictable(
  { now, knownSince }: { now: number; knownSince: number },
  { file, usedAt, isPinned }: FileUse & { file: EvictableFile },
): boolean {
  const isArchive = file.startsWith('archives:');
  const known = isArchive ? inUseMs : urlMs;
  return now - knownSince >= known && (usedAt < now - inUseMs || (isArchive && isPinned));
}
