import leven from 'leven';
import type { z } from 'zod';

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

/** The error for a body that is not an object. */
export const bodyFault = 'Request body must be a JSON object';

const maxMisspellingEdits = 2;

/**
 * Returns the error message for an unknown field, with the field that was probably meant, or for a body that is not an
 * object; for `z.strictObject()`.
 */
export function objectFault({ code, keys, inst }: ObjectIssue): string {
  if (code !== 'unrecognized_keys') return bodyFault;
  const [name = ''] = keys ?? [];
  const known = Object.keys((inst as z.ZodObject | undefined)?.shape ?? {});
  const nearest = nearestName(name, known, () => maxMisspellingEdits);
  return `Request body has an unknown field "${name}"${nearest === null ? '' : `. Did you mean "${nearest}"?`}`;
}

interface ObjectIssue {
  code?: string;
  keys?: string[];
  /** The schema that found the fault. */
  inst?: unknown;
}
