import { cutFor } from './cut.ts';
import type { BytesByMinute, Cut } from './cut.ts';

/** Steps of the binary search for the share: enough for any number of bytes. */
const searchSteps = 64;

/** Files with the same owners. */
export interface OwnedFiles {
  /** Ids of organizations; none where unknown. All files without known owners count as one organization. */
  owners: readonly string[];
  /** The bytes of all files. */
  total: number;
  /** The evictable bytes. */
  used: BytesByMinute;
  /** Bytes that are evictable only when all owners exceed their share, and after those of `used`. */
  pinned: BytesByMinute;
}

/** The cuts for files with the same owners; null for none. */
export interface GroupCuts {
  used: Cut | null;
  pinned: Cut | null;
}

/**
 * Returns the cuts of each group of files that remove all files last used before `oldest`, and, where possible, at
 * least `bytes`. Every organization may keep the same share. Only organizations over it lose files to make room: their
 * own least recently used ones, pinned ones last.
 *
 * No share is below an equal part of the remaining bytes. Less is freed if an organization exceeds its share in files
 * that must stay. A file with several owners counts in full for each, and is removed only if each is over its share: no
 * organization loses files because another one uses them too.
 *
 * @param goal.oldest a minute.
 */
export function fairCuts(
  groups: ReadonlyMap<string, OwnedFiles>,
  goal: { oldest: number; bytes: number },
): Map<string, GroupCuts> {
  const all = [...groups].map(([name, { owners, total, used, pinned }]) => {
    const aged = bytesBefore(used, goal.oldest);
    return {
      name,
      used,
      pinned,
      aged,
      owners: owners.length === 0 ? [''] : owners,
      total: total - aged,
      free: sum(used.values()) - aged + sum(pinned.values()),
    };
  });
  const wanted = goal.bytes - sum(all.map(({ aged }) => aged));
  const held = new Map<string, number>();
  for (const { owners, total } of all) {
    for (const owner of owners) held.set(owner, (held.get(owner) ?? 0) + total);
  }
  const excessOf = (owners: readonly string[], share: number) =>
    Math.max(0, Math.min(...owners.map((owner) => (held.get(owner) ?? 0) - share)));
  const freedAt = (share: number) =>
    sum(all.map(({ owners, free }) => Math.min(free, excessOf(owners, share))));

  // Files that must stay because they are in use never reduce the share of other organizations.
  const equalShare = Math.max(0, sum(all.map(({ total }) => total)) - wanted) / Math.max(1, held.size);
  let [low, high] = [equalShare, Math.max(equalShare, ...held.values())];
  for (let step = 0; step < searchSteps && wanted > 0; step += 1) {
    const middle = (low + high) / 2;
    if (freedAt(middle) >= wanted) low = middle;
    else high = middle;
  }
  const cuts = new Map<string, GroupCuts>();
  for (const { name, owners, used, pinned, aged } of all) {
    const bytes = wanted > 0 ? Math.ceil(excessOf(owners, low)) : 0;
    const cut: GroupCuts = {
      used: cutFor(used, { oldest: goal.oldest, bytes: bytes === 0 ? 0 : aged + bytes }),
      pinned: cutFor(pinned, { oldest: -Infinity, bytes: bytes - (sum(used.values()) - aged) }),
    };
    if (cut.used !== null || cut.pinned !== null) cuts.set(name, cut);
  }
  return cuts;
}

function bytesBefore(used: BytesByMinute, oldest: number): number {
  return sum([...used].map(([minute, bytes]) => (minute < oldest ? bytes : 0)));
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const one of numbers) total += one;
  return total;
}
