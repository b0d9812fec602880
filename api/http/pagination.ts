import { z } from 'zod';
import type { ListPosition } from '../../shared/models/lesson-list.ts';
import { uuidFromHex } from '../../shared/platform/uuid.ts';

const timeDigits = 12;

/**
 * Parses a pagination cursor of lesson lists. Clients treat it as opaque; it contains creation time (ms) and id of the
 * last lesson on the page before, in hex.
 */
export const pageCursor = z
  .string('cursor is not valid')
  .regex(/^[0-9a-f]{44}$/, 'cursor is not valid')
  .transform((text): ListPosition => ({
    createdAt: new Date(Number.parseInt(text.slice(0, timeDigits), 16)),
    id: uuidFromHex(text.slice(timeDigits)),
  }));

/** Returns the cursor of the page after an entry. */
export function toPageCursor({ createdAt, id }: ListPosition): string {
  return createdAt.getTime().toString(16).padStart(timeDigits, '0') + id.replaceAll('-', '');
}
