const minuteMs = 60_000;

/** Bytes by the minute of their last use. */
export type BytesByMinute = Map<number, number>;

/** The files to remove: all that were last used before `minute`, and `bytes` of those last used in that minute. */
export interface Cut {
  minute: number;
  bytes: number;
}

export function minuteOf(milliseconds: number): number {
  return Math.floor(milliseconds / minuteMs);
}

/** Returns the end of the minute of a cut, which follows the last use of all its files. */
export function endOf({ minute }: Cut): number {
  return (minute + 1) * minuteMs;
}

/**
 * Returns the cut that removes all files last used before `oldest`, and at least `bytes`, least recently used first.
 * Null if nothing must be removed, or nothing exists.
 *
 * @param goal.oldest a minute.
 */
export function cutFor(used: BytesByMinute, goal: { oldest: number; bytes: number }): Cut | null {
  let left = goal.bytes;
  let cut: Cut | null = null;
  for (const [minute, bytes] of [...used].sort(([a], [b]) => a - b)) {
    if (minute >= goal.oldest && left <= 0) break;
    if (minute >= goal.oldest && bytes > left) return { minute, bytes: left };
    cut = { minute: minute + 1, bytes: 0 };
    left -= bytes;
  }
  return cut;
}
