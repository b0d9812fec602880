import leven from 'leven';

/**
 * Returns the candidate that a name probably misspells: the one with the fewest edits, ignoring case; null if all have
 * more than `maxEdits`.
 */
export function nearestName(
  name: string,
  candidates: readonly string[],
  maxEdits: (candidate: string) => number,
): string | null {
  const written = name.toLowerCase();
  let nearest: string | null = null;
  let fewest = Infinity;
  for (const candidate of candidates) {
    const most = Math.min(maxEdits(candidate), fewest - 1);
    // A length difference is a lower bound of the edits, and much cheaper than leven.
    if (Math.abs(candidate.length - written.length) > most) continue;
    const edits = leven(written, candidate.toLowerCase());
    if (edits <= most) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}
