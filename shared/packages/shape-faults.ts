import type { z } from 'zod';

import { memberPath } from '../lessons/blocks.ts';
import type { FaultList } from './package-error.ts';

/**
 * Checks a value against a zod schema and adds each fault with its position.
 *
 * @param place the value's position, such as `sections[2]`; empty at the top of `file`
 * @returns undefined if the value has faults
 */
export function checkShape<T extends z.ZodType>(
  schema: T,
  value: unknown,
  file: string,
  place: string,
  faults: FaultList,
): z.output<T> | undefined {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  for (const issue of result.error.issues)
    faults.add(placeIn(file, issuePath(place, issue.path)), wording(issue));
  return undefined;
}

/** Formats a position: `lesson.json: sections[2]`, or `lesson.json` for its top. */
export function placeIn(file: string, path: string): string {
  return path === '' ? file : `${file}: ${path}`;
}

function issuePath(place: string, path: PropertyKey[]): string {
  const full = path.reduce<string>(
    (before, key) => (typeof key === 'number' ? `${before}[${key}]` : memberPath(before, String(key))),
    place,
  );
  return full.startsWith('.') ? full.slice(1) : full;
}

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  array: 'an array',
};

function wording(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type') return issue.message;
  // JSON has no value `undefined`.
  if (issue.input === undefined) return 'is missing';
  return `must be ${kinds[issue.expected] ?? issue.expected}`;
}
