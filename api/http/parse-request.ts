import type { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';

/** Parses path, query or body of a request. @throws {LecternError} `code`, with the text of the first fault. */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  code: 'BAD_REQUEST' | 'INVALID_CONTENT',
): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new LecternError(code, parsed.error.issues[0]?.message ?? 'Invalid request');
}
