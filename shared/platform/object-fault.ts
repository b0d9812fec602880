import type { z } from 'zod';
import { nearestName } from './nearest-name.ts';

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
