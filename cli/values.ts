import { InvalidArgumentError } from 'commander';
import { z } from 'zod';

/** @throws {InvalidArgumentError} which Commander prints with the option's name, and exits with 2. */
export function slugValue(text: string): string {
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) && text.length <= 100) return text;
  throw new InvalidArgumentError('It may hold a-z, 0-9 and single hyphens only.');
}

/** A UUID, in lower case. */
export function uuidValue(text: string): string {
  if (z.guid().safeParse(text).success) return text.toLowerCase();
  throw new InvalidArgumentError('It must be a UUID.');
}

/** A whole number above 0. */
export function countValue(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

/** A time in the future, as ISO 8601 has it. */
export function futureTimeValue(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError('It must be a time such as 2027-01-31T12:00:00Z.');
  }
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return time;
}

/** An http or https address. */
export function webAddressValue(text: string): string {
  if (z.url({ protocol: /^https?$/ }).safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be an http or https address.');
}
