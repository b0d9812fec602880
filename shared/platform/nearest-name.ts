import leven from 'leven';

/**
 * Returns the candidate that a name is probably a misspelling of, whatever the case: the first of those with the fewest
 * edits; null when all differ by more.
 *
 * @param maxEdits how many edits away a candidate may be
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
    // Comparing costs the product of both lengths; each character more is an edit.
    if (Math.abs(candidate.length - written.length) > most) continue;
    const edits = leven(written, candidate.toLowerCase());
    if (edits <= most) [nearest, fewest] = [candidate, edits];
  }
  return nearest;
}
