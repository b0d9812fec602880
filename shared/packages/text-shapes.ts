import { z } from 'zod';
import { isHttpUrl } from '../platform/parse-url.ts';

/** Limits for the texts of a package, which Lectern stores and returns in responses. */

export const maxUrlLength = 8_192;

/** Returns an http or https URL from a manifest's lists of failed files; undefined for anything else. */
export function httpUrl(text: string | null | undefined): string | undefined {
  if (typeof text !== 'string' || text.length > maxUrlLength) return undefined;
  return isHttpUrl(text) ? text : undefined;
}

/** Returns the schema of a text of at most `max` characters (code points). */
export function boundedText(max: number): z.ZodType<string, string> {
  return z
    .string()
    .refine((text) => text.length <= max || lengthOf(text) <= max, {
      error: ({ input }) => `must be at most ${max} characters, and has ${lengthOf(String(input))}`,
    })
    .meta({ maxLength: max });
}

const maxTitleLength = 500;

/** The title of a lesson, which must not be empty. */
export const lessonTitle = z
  .string()
  .refine((text) => text.trim() !== '', {
    error: `must have 1 to ${maxTitleLength} characters, and is empty`,
    abort: true,
  })
  .refine((text) => text.length <= maxTitleLength || lengthOf(text) <= maxTitleLength, {
    error: ({ input }) => `must have 1 to ${maxTitleLength} characters, and has ${lengthOf(String(input))}`,
  })
  .meta({ pattern: /\S/.source, maxLength: maxTitleLength });

/** The title of a section or a step, which may be empty. */
export const partTitle = boundedText(maxTitleLength);

/** Counts code points: a character outside the Basic Multilingual Plane counts once. */
function lengthOf(text: string): number {
  let length = 0;
  for (let at = 0; at < text.length; length += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return length;
}
