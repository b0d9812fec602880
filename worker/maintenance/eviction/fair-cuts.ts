import { cutFor } from './cut.ts';
import type { BytesByMinute, Cut } from './cut.ts';

/** Steps of the search for the share: enough for any number of bytes. */
const searchSteps = 64;

/** Files that the same organizations use. */
export interface OwnedFiles {
  /** Ids; none for files of which it is not known. Those together count as one organization. */
  owners: readonly string[];
  /** All their bytes. */
  total: number;
  /** The bytes that may go. */
  used: BytesByMinute;
  /** The bytes that may go only when all owners hold more than their share, after those of `used`. */
  pinned: BytesByMinute;
}

/** What goes of files that the same organizations use. Null for nothing. */
export interface GroupCuts {
  used: Cut | null;
  pinned: Cut | null;
}

/**
 * Returns where to cut each group of files, so that all goes that was used before `oldest`, and at least so many bytes
 * where so many may go. Every organization may keep the same share: only those that hold more lose files for room,
 * each its own that were used longest ago, and pinned ones after all others. No share is below an equal part of what is to
 * stay, so less is freed where an organization holds more than its share in files that may not go. A file that several use counts in full for each, and goes only when each of
 * them is over the share: nobody loses files because another organization uses them too.
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

  // An organization whose files must stay, because they are in use, never costs others their share.
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
