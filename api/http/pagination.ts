import { z } from 'zod';
import type { ListPosition } from '../../shared/models/newest-first.ts';
import { uuidFromHex } from '../../shared/platform/uuid.ts';
import { unknownParameter } from './endpoint.ts';

/** Returns the query parameter `limit` of a list. @param entries what it lists: `lessons`. */
export function pageLimit(entries: string, { maximum = 100, byDefault = 50 } = {}) {
  const rule = `limit must be a whole number between 1 and ${maximum}`;
  return z
    .string(rule)
    .regex(/^\d{1,4}$/, rule)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= maximum, rule)
    .default(byDefault)
    .meta({
      description: `The maximum number of ${entries} on a page.`,
      override: { type: 'integer', pattern: undefined, minimum: 1, maximum, default: byDefault },
    });
}

export const cursorFault = 'cursor is not valid';
export const cursorDescription = 'The `nextCursor` of the previous page (pagination).';

const timeDigits = 12;

/**
 * Parses a pagination cursor of lists of entries with UUIDs. Clients treat it as opaque; it contains creation time (ms)
 * and id of the last entry on the page before, in hex.
 */
export const pageCursor = z
  .string(cursorFault)
  .regex(/^[0-9a-f]{44}$/, cursorFault)
  .transform((text): ListPosition => ({
    createdAt: new Date(Number.parseInt(text.slice(0, timeDigits), 16)),
    id: uuidFromHex(text.slice(timeDigits)),
  }));

/** Returns the cursor of the page after an entry. */
export function toPageCursor({ createdAt, id }: ListPosition): string {
  return createdAt.getTime().toString(16).padStart(timeDigits, '0') + id.replaceAll('-', '');
}

/**
 * Returns the query of a list whose entries are the newest first, with ids of any kind.
 *
 * @param entries what it lists: `users`.
 * @param filters further parameters.
 */
export function listQuery<Filters extends z.ZodRawShape = Record<never, never>>(
  entries: string,
  filters?: Filters,
) {
  return z.strictObject(
    {
      ...(filters as Filters),
      limit: pageLimit(entries),
      cursor: z
        .string(cursorFault)
        .regex(/^[0-9a-f]{12}[\w-]{1,100}$/, cursorFault)
        .transform((text): ListPosition => ({
          createdAt: new Date(Number.parseInt(text.slice(0, timeDigits), 16)),
          id: text.slice(timeDigits),
        }))
        .optional()
        .meta({ description: cursorDescription }),
    },
    { error: unknownParameter },
  );
}

/** The field `nextCursor` of such a list. */
export const nextCursorField = z
  .string()
  .nullable()
  .meta({ description: 'The `cursor` of the next page; null at the end.' });

/** Returns the value of that field. */
export function presentPosition(next: ListPosition | null): string | null {
  return next && next.createdAt.getTime().toString(16).padStart(timeDigits, '0') + next.id;
}
