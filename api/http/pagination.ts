import { z } from 'zod';
import type { ListPosition } from '../../shared/models/lesson-list.ts';
import { uuidFromHex } from '../../shared/platform/uuid.ts';

const limitRule = 'limit must be a whole number between 1 and 100';

/** Returns the query parameter `limit` of a list. @param entries what it lists: `lessons`. */
export function pageLimit(entries: string) {
  return z
    .string(limitRule)
    .regex(/^\d{1,3}$/, limitRule)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= 100, limitRule)
    .default(50)
    .meta({
      description: `The maximum number of ${entries} on a page.`,
      override: { type: 'integer', pattern: undefined, minimum: 1, maximum: 100, default: 50 },
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
