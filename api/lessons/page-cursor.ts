import { z } from 'zod';
import type { ListPosition } from '../../shared/models/lesson-list.ts';
import { uuidFromHex } from '../../shared/platform/uuid.ts';

const timeDigits = 12;

/** A place in a list of lessons as callers get it: the milliseconds of its time and its id, in hex. Nothing to build on. */
export const lessonCursor = z
  .string('cursor is not valid')
  .regex(/^[0-9a-f]{44}$/, 'cursor is not valid')
  .transform((text): ListPosition => ({
    createdAt: new Date(Number.parseInt(text.slice(0, timeDigits), 16)),
    id: uuidFromHex(text.slice(timeDigits)),
  }));

export function toLessonCursor({ createdAt, id }: ListPosition): string {
  return createdAt.getTime().toString(16).padStart(timeDigits, '0') + id.replaceAll('-', '');
}
