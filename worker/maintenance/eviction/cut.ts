const minuteMs = 60_000;

/** How many bytes were used last in each minute, by the number of the minute. */
export type BytesByMinute = Map<number, number>;

/** What goes: all that was used last before a minute, and of what was used in that minute so many bytes. */
export interface Cut {
  minute: number;
  bytes: number;
}

export function minuteOf(milliseconds: number): number {
  return Math.floor(milliseconds / minuteMs);
}

/** The time before which all files were used that a cut concerns. */
export function endOf({ minute }: Cut): number {
  return (minute + 1) * minuteMs;
}

/**
 * Where to cut so that all goes that was used before `oldest`, and at least so many bytes, those used longest ago
 * first. Null where nothing has to go, or there is nothing.
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
